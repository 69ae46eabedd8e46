//! Patterns for keys: `*` and `?` within a part between slashes, `**` across parts, `[a-z]`, `{a,b}`.

use globset::{GlobBuilder, GlobMatcher};

/// Longer patterns are not meant for keys.
const LONGEST: usize = 512;

pub(super) struct Pattern {
    matcher: GlobMatcher,
    /// How every key begins that fits.
    pub(super) prefix: String,
}

impl Pattern {
    pub(super) fn new(text: &str) -> Result<Self, String> {
        if text.len() > LONGEST {
            return Err(format!("`pattern` may have {LONGEST} bytes at most"));
        }
        let glob = GlobBuilder::new(text).literal_separator(true).build();
        let glob = glob.map_err(|error| format!("`pattern` is not a glob: {}", error.kind()))?;
        let fixed = text.find(['*', '?', '[', '{', '\\']).unwrap_or(text.len());
        // `a/**` also fits `a`.
        let fixed = text[..fixed].trim_end_matches('/');
        Ok(Self {
            matcher: glob.compile_matcher(),
            prefix: fixed.to_owned(),
        })
    }

    pub(super) fn fits(&self, key: &str) -> bool {
        self.matcher.is_match(key)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn patterns_are_globs() {
        for (pattern, fitting, other) in [
            ("*", &["a", "a.b", ""][..], &["a/b"][..]),
            ("**", &["a", "a/b"], &[]),
            ("user*", &["user", "user.name"], &["a.user", "user/x"]),
            ("a/**", &["a/b", "a/b/c"], &["b/a"]),
            ("**/c", &["c", "a/c", "a/b/c"], &["a/cc"]),
            ("k?", &["k1", "ké"], &["k", "k12"]),
            ("k[a-c]", &["ka", "kc"], &["kd"]),
            ("k[!a]", &["kb"], &["ka"]),
            ("{red,blue}-*", &["red-1", "blue-"], &["green-1"]),
            ("a\\*", &["a*"], &["ab"]),
            ("exact", &["exact"], &["exactly"]),
        ] {
            let compiled = Pattern::new(pattern).unwrap();
            for key in fitting {
                assert!(compiled.fits(key), "{pattern} {key}");
                assert!(key.starts_with(&compiled.prefix), "{pattern} {key}");
            }
            for key in other {
                assert!(!compiled.fits(key), "{pattern} {key}");
            }
        }
        for wrong in ["[", "{a", "[z-a]", &"*".repeat(600)] {
            assert!(Pattern::new(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_fits_has_the_prefix(pattern in "[ab/*?{},\\[\\]\\\\]{0,10}", key in "[ab/]{0,6}") {
            if let Ok(compiled) = Pattern::new(&pattern) && compiled.fits(&key) {
                prop_assert!(key.starts_with(&compiled.prefix));
            }
        }
    }
}
