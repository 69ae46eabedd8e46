//! A full disk: writes fail with a clear error, reads go on, and once there is space again every
//! kind of write works without a restart.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::User;
use crate::support::home::program;
use crate::support::{Answer, Home, Running, Server};

/// Mounts a small disk of its own over the data folder, then runs the program.
const RUN_ON_SMALL_DISK: &str =
    r#"mount -t tmpfs -o size=4m none "$1" && exec "$2" serve --listen 127.0.0.1:0"#;

/// The program with a data folder on a small disk, which only this program sees.
struct SmallDisk {
    server: Server,
    filler: PathBuf,
}

impl SmallDisk {
    fn start() -> Self {
        let home = Home::new();
        let data = home.path().join("data");
        fs::create_dir(&data).unwrap();
        let mut command = home.command("unshare");
        command.args([
            "--map-root-user",
            "--mount",
            "sh",
            "-c",
            RUN_ON_SMALL_DISK,
            "sh",
        ]);
        command.arg(&data).arg(program());
        let process = Running::start(&mut command);
        let root = PathBuf::from(format!("/proc/{}/root", process.id()));
        let server = Server::of(home, process);
        let filler = root.join(data.strip_prefix("/").unwrap()).join("filler");
        Self { server, filler }
    }

    fn fill(&self) {
        let mut file = File::create(&self.filler).unwrap();
        for size in [1 << 16, 1 << 10, 1] {
            let block = vec![0; size];
            while file.write_all(&block).is_ok() {}
        }
        assert!(is_full(&self.filler));
    }

    fn free(&self) {
        fs::remove_file(&self.filler).unwrap();
    }
}

fn is_full(filler: &Path) -> bool {
    let mut file = File::options().append(true).open(filler).unwrap();
    file.write_all(b"x").is_err()
}

fn assert_storage_error(answer: &Answer) {
    let error = &answer.json()["error"];
    assert_eq!(error["code"], -32603, "{answer:?}");
    assert_eq!(error["data"]["kind"], "storage", "{answer:?}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("full"), "{message}");
}

#[test]
fn every_kind_of_write_works_again_after_the_disk_was_full() {
    let disk = SmallDisk::start();
    let user = User::of(&disk.server);
    user.store("kept", json!("value"));
    let large = "x".repeat(200_000);
    let writes: [(&str, Value); 5] = [
        ("store", json!({ "key": "new", "value": large })),
        ("store", json!({ "key": "kept", "value": large })),
        (
            "store",
            json!({ "key": "brief", "value": large, "ttl": "1h" }),
        ),
        ("delete", json!({ "key": "new" })),
        ("clear", json!({ "namespace": "default" })),
    ];
    for (tool, arguments) in writes {
        disk.fill();
        let failed = (0..3).map(|number| {
            let arguments = json!({ "key": format!("failing-{number}"), "value": large });
            user.tool("store", arguments)
        });
        failed.for_each(|answer| assert_storage_error(&answer));
        // A small write may still fit into the file.
        user.tool(tool, arguments.clone());
        assert_eq!(
            user.call("retrieve", json!({ "key": "kept" }))["key"],
            "kept"
        );
        disk.free();
        user.call(tool, arguments);
        user.store("kept", json!("value"));
    }
    assert_eq!(user.keys(json!({})), ["kept"]);
    disk.server.stop();
}
