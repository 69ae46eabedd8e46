//! What servers do with a client that can be asked something.

use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;

use super::super::actor::Actor;
use super::super::differences::Played;
use super::super::ground;
use super::super::real::Real;
use super::super::world::World;
use crate::support::PATIENCE;

/// Plays what a server asks its client.
pub(crate) fn play_asking(Played { real, .. }: Played, actor: &mut Actor, world: &World) {
    actor.lists();
    match real {
        Real::Everything | Real::EverythingHttp | Real::EverythingSse => everything(actor),
        Real::Filesystem => filesystem(actor, world),
        Real::FastMcp | Real::FastMcpHttp => {
            actor.call("christen", json!({}));
            actor.call("hail", json!({}));
        }
        Real::Memory | Real::Git | Real::Time | Real::Fetch => panic!("{real:?} asks nothing"),
    }
}

fn everything(actor: &mut Actor) {
    actor.call("trigger-elicitation-request", json!({}));
    actor.call(
        "trigger-sampling-request",
        json!({ "prompt": "tides", "maxTokens": 5 }),
    );
    let page = json!({ "url": "https://example.com/form", "elicitationId": "the-form" });
    actor.call("trigger-url-elicitation", page);
    // The server asks for the folders by itself, a while after the handshake, or now.
    wait_for(actor, "get-roots-list", "other");
}

/// The folders of its client are the ones it works in.
fn filesystem(actor: &mut Actor, world: &World) {
    let folder = ground::other_files(world.home());
    let folder = folder.to_str().unwrap();
    wait_for(actor, "list_allowed_directories", folder);
    actor.call("list_directory", json!({ "path": folder }));
    let files = ground::files(world.home());
    actor.call("list_directory", json!({ "path": files.to_str().unwrap() }));
}

/// Calls a tool until it has heard what it asked its client for. Only the last call counts: when
/// the question comes is the server's choice.
fn wait_for(actor: &mut Actor, tool: &str, word: &str) {
    let patience = Instant::now() + PATIENCE;
    while Instant::now() < patience {
        let came = actor.call(tool, json!({}));
        if came["result"]["content"][0]["text"]
            .to_string()
            .contains(word)
        {
            return;
        }
        actor.strike();
        thread::sleep(Duration::from_millis(20));
    }
    panic!("{tool} never heard of {word}");
}
