//! Security T32: whatever is asked for, and whatever is done to the folder meanwhile, nothing from
//! outside of it is read.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use proptest::prelude::*;
use tempfile::TempDir;

use super::*;

const SECRET: &str = "what nobody may read";

/// A folder with everything in it that could lead out, beside a secret.
struct World {
    _outside: TempDir,
    root: Root,
    rules: Rules,
    secret: PathBuf,
}

impl World {
    fn new() -> Self {
        let outside = tempfile::tempdir().unwrap();
        let above = outside.path().canonicalize().unwrap();
        let secret = above.join("secret.txt");
        let top = above.join("root");
        fs::create_dir_all(top.join("a/b")).unwrap();
        fs::create_dir_all(above.join("root-2")).unwrap();
        fs::create_dir_all(above.join("other")).unwrap();
        for place in [
            &secret,
            &above.join("other/c.txt"),
            &above.join("root-2/c.txt"),
        ] {
            fs::write(place, SECRET).unwrap();
        }
        for (name, text) in [("c.txt", "c"), ("a/c.txt", "ac"), ("a/b/c.txt", "abc")] {
            fs::write(top.join(name), text).unwrap();
        }
        for name in [".hidden", "ignored.txt", "a/ignored.txt"] {
            fs::write(top.join(name), SECRET).unwrap();
        }
        fs::write(top.join(".gitignore"), "ignored.txt\n").unwrap();
        let links = [
            ("file-out", "../secret.txt".into()),
            ("file-out-absolute", secret.clone()),
            ("folder-out", "../other".into()),
            ("folder-out-absolute", above.join("other")),
            ("above", "..".into()),
            ("a/climb", "../../secret.txt".into()),
            ("a/b/zigzag", "../../a/../../secret.txt".into()),
            ("beside", above.join("root-2")),
            ("machine", "/".into()),
            ("process", "/proc/self/root".into()),
            ("again", "again".into()),
            ("ping", "pong".into()),
            ("pong", "ping".into()),
            ("to-ignored", "ignored.txt".into()),
            ("to-hidden", ".hidden".into()),
            ("to-nothing", "nowhere".into()),
            ("zero", "/dev/zero".into()),
            ("in", "a/b/c.txt".into()),
            ("in-absolute", top.join("a/c.txt")),
            ("folder-in", "a/b".into()),
            ("a/up-and-in", "../c.txt".into()),
            ("a/round", "../a/b/../c.txt".into()),
            ("chain", "folder-in/../up-and-in".into()),
        ];
        for (name, target) in links {
            let target: PathBuf = target;
            symlink(target, top.join(name)).unwrap();
        }
        drop(UnixListener::bind(top.join("socket")).unwrap());
        rustix::fs::mkfifoat(rustix::fs::CWD, top.join("pipe"), rustix::fs::Mode::RWXU).unwrap();
        Self {
            _outside: outside,
            root: Root::new(top),
            rules: Rules {
                hidden: false,
                gitignore: true,
                include: Patterns::default(),
                exclude: Patterns::default(),
                told: Told::default(),
            },
            secret,
        }
    }

    fn walk(&self) -> Walk<'_> {
        Walk {
            root: &self.root,
            rules: &self.rules,
            most: 1000,
        }
    }

    fn base(&self) -> Base {
        Base::of_folder(self.root.path())
    }

    /// What a client gets for a URI.
    fn read(&self, uri: &str) -> Result<String, Unread> {
        let place = self.base().place(uri).ok_or(Unread::Nothing)?;
        match self.walk().read(&place, 1 << 20)? {
            Contents::File { bytes, .. } => Ok(String::from_utf8(bytes).unwrap()),
            Contents::Folder(level) => {
                let files = level.files.iter().map(|(place, _)| place.to_string());
                Ok(files.collect::<Vec<_>>().join(" "))
            }
        }
    }

    fn at(&self, path: &str) -> Result<String, Unread> {
        self.read(&format!("{}{path}", self.base().prefix()))
    }
}

fn is_nothing(read: &Result<String, Unread>) -> bool {
    matches!(read, Err(Unread::Nothing))
}

#[test]
fn a_link_within_the_folder_is_followed() {
    let world = World::new();
    for (path, text) in [
        ("in", "abc"),
        ("in-absolute", "ac"),
        ("folder-in/c.txt", "abc"),
        ("a/up-and-in", "c"),
        ("a/round", "ac"),
        ("chain", "c"),
    ] {
        assert_eq!(world.at(path).unwrap(), text, "{path}");
    }
}

#[test]
fn nothing_else_is_anything() {
    let world = World::new();
    for path in [
        "file-out",
        "file-out-absolute",
        "folder-out",
        "folder-out/c.txt",
        "folder-out-absolute/c.txt",
        "above/secret.txt",
        "above/root/c.txt",
        "a/climb",
        "a/b/zigzag",
        "beside/c.txt",
        "machine/etc/passwd",
        "process/etc/passwd",
        "again",
        "ping",
        "to-ignored",
        "to-hidden",
        "to-nothing",
        "zero",
        "pipe",
        "socket",
        ".hidden",
        "ignored.txt",
        "a/ignored.txt",
        ".gitignore",
        "c.txt/x",
        "nowhere",
    ] {
        assert!(is_nothing(&world.at(path)), "{path}");
    }
}

#[test]
fn what_is_listed_is_what_can_be_read() {
    let world = World::new();
    let walked = world.walk().go(&Walked::default()).unwrap();
    let names: Vec<_> = walked.files.keys().map(ToString::to_string).collect();
    let expected = [
        "a/b/c.txt",
        "a/c.txt",
        "a/round",
        "a/up-and-in",
        "c.txt",
        "chain",
        "in",
        "in-absolute",
    ];
    assert_eq!(names, expected);
    for name in names {
        assert!(!world.at(&name).unwrap().contains(SECRET));
    }
}

#[test]
fn what_is_too_much_is_cut_where_it_is_deepest() {
    let world = World::new();
    let few = Walk {
        most: 2,
        ..world.walk()
    };
    let walked = few.go(&Walked::default()).unwrap();
    assert!(walked.is_cut);
    assert_eq!(walked.files.len(), 2);
    assert!(walked.files.keys().all(|place| place.names().count() == 1));
}

#[test]
fn a_file_that_is_too_large_says_so() {
    let world = World::new();
    fs::write(world.root.path().join("large"), "12345").unwrap();
    let place = Place::of([b"large".as_slice()]).unwrap();
    let read = |most| world.walk().read(&place, most);
    assert!(matches!(read(4), Err(Unread::TooLarge { size: 5 })));
    assert!(matches!(read(5), Ok(Contents::File { .. })));
}

/// Names that lead out, and ways to spell them.
fn segment() -> impl Strategy<Value = String> {
    let names = [
        "a",
        "b",
        "c.txt",
        "..",
        ".",
        "",
        "above",
        "folder-out",
        "file-out",
        "secret.txt",
        "root",
        "machine",
        "process",
        "beside",
        "%2e%2e",
        "%2e%2e%2f",
        "..%2fsecret.txt",
        "%252e%252e",
        "%00",
        "a\\..\\..",
        "..\\secret.txt",
        "climb",
        "zigzag",
        "other",
        "ignored.txt",
        "to-ignored",
        "．．",
        "c.txt%00",
        "~",
        "folder-in",
        "%c0%ae%c0%ae",
        "..;",
        ".. ",
        "folder-out-absolute",
    ];
    prop_oneof![
        9 => prop::sample::select(names.to_vec()).prop_map(str::to_owned),
        1 => ".{0,8}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// No URI reads anything from outside.
    #[test]
    fn no_uri_leads_out(
        head in prop::sample::select(vec!["", "file://", "file:///", "FILE://localhost", "file:", "file://host"]),
        within in any::<bool>(),
        segments in prop::collection::vec(segment(), 0..6),
    ) {
        thread_local!(static WORLD: World = World::new());
        WORLD.with(|world| {
            let path = segments.join("/");
            let uri = match within {
                true => format!("{}{path}", world.base().prefix()),
                false => format!("{head}{}/{path}", world.secret.parent().unwrap().display()),
            };
            if let Ok(text) = world.read(&uri) {
                prop_assert!(!text.contains(SECRET), "{uri}");
            }
            Ok(())
        })?;
    }
}

/// Swaps two names for as long as it is asked to.
fn swap(one: &Path, other: &Path, stop: &AtomicBool) {
    let between = one.with_extension("between");
    while !stop.load(Ordering::Relaxed) {
        fs::rename(one, &between).unwrap();
        fs::rename(other, one).unwrap();
        fs::rename(&between, other).unwrap();
    }
}

/// Ends the swapping, also when the test fails.
struct Stopping<'a>(&'a AtomicBool);

impl Drop for Stopping<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A file, and a folder on the way to one, become links out of the folder and back, all the time.
#[test]
fn nothing_that_is_swapped_meanwhile_leads_out() {
    let world = World::new();
    let top = world.root.path();
    for name in ["file", "folder"] {
        fs::create_dir_all(top.join(name)).unwrap();
    }
    fs::write(top.join("file/now"), "fine").unwrap();
    symlink(&world.secret, top.join("file/then")).unwrap();
    fs::create_dir(top.join("folder/now")).unwrap();
    fs::write(top.join("folder/now/c.txt"), "fine").unwrap();
    symlink("../../other", top.join("folder/then")).unwrap();
    let stop = AtomicBool::new(false);
    let (mut good, mut nothing) = (0, 0);
    thread::scope(|scope| {
        for name in ["file", "folder"] {
            let (now, then) = (top.join(name).join("now"), top.join(name).join("then"));
            let stop = &stop;
            scope.spawn(move || swap(&now, &then, stop));
        }
        let _stopping = Stopping(&stop);
        for _ in 0..10_000 {
            for path in ["file/now", "folder/now/c.txt"] {
                match world.at(path) {
                    Ok(text) => {
                        assert_eq!(text, "fine");
                        good += 1;
                    }
                    Err(_) => nothing += 1,
                }
            }
        }
    });
    assert!(
        good > 0 && nothing > 0,
        "{good} {nothing}: nothing was swapped"
    );
}
