//! Sizes in bytes, formatted for people.

/// For instance `512B` or `2.1KB`.
pub(super) fn format_bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1024 {
        return format!("{bytes}B");
    }
    // Computed in rounded tenths, without floats.
    let mut tenths = (bytes.saturating_mul(10) + 512) / 1024;
    let mut unit = 0;
    while tenths >= 10_240 && unit + 1 < UNITS.len() {
        tenths = (tenths + 512) / 1024;
        unit += 1;
    }
    format!("{}.{}{}", tenths / 10, tenths % 10, UNITS[unit])
}

/// Two different sizes for one message: exact where the short form would look the same.
pub(super) fn format_distinct(first: u64, second: u64) -> [String; 2] {
    let both = [first, second];
    match format_bytes(first) == format_bytes(second) {
        true => both.map(|bytes| format!("{bytes} bytes")),
        false => both.map(format_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// S0.16.
    #[test]
    fn formats_sizes_with_units() {
        for (bytes, text) in [
            (0, "0B"),
            (1023, "1023B"),
            (1024, "1.0KB"),
            (2150, "2.1KB"),
            (1 << 20, "1.0MB"),
            (64 << 20, "64.0MB"),
            (3 << 30, "3.0GB"),
        ] {
            assert_eq!(format_bytes(bytes), text);
        }
    }

    #[test]
    fn formats_different_sizes_differently() {
        assert_eq!(
            format_distinct((1 << 20) + 1, 1 << 20),
            ["1048577 bytes", "1048576 bytes"]
        );
        assert_eq!(format_distinct(2 << 20, 1 << 20), ["2.0MB", "1.0MB"]);
    }
}
