//! Pages of the documentation, parts of which are what tests found.

use std::fs;
use std::path::Path;
use std::sync::Mutex;

/// Several tests write on one page.
static WRITING: Mutex<()> = Mutex::new(());

/// Shows what was found. Fails where the page says otherwise; or has it say this, if it is told to.
#[expect(clippy::print_stdout, reason = "whoever runs the test sees the table")]
pub(crate) fn check(page: &str, part: &str, tests: &str, text: &str) {
    println!("{text}");
    let _writing = WRITING.lock().unwrap();
    let begin = format!(
        "<!-- The table of {part} is made by a test. To refresh it:\n     UPDATE_REFERENCE=1 cargo \
         test -p tidegate --test it {tests} -->\n"
    );
    let end = format!("<!-- The end of the table of {part}. -->\n");
    let file = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(page);
    let stored_page = fs::read_to_string(&file).unwrap();
    let (before, rest) = stored_page
        .split_once(&begin)
        .expect("the page has a place for it");
    let (stored, after) = rest.split_once(&end).expect("the table has an end");
    if std::env::var_os("UPDATE_REFERENCE").is_some_and(|value| value == "1") {
        fs::write(&file, format!("{before}{begin}{text}{end}{after}")).unwrap();
    } else {
        assert!(
            stored == text,
            "{page} is not what was found; it says how to refresh it"
        );
    }
}
