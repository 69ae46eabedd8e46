//! What is done at each server: its lists, everything that is in them, calls that work and calls
//! that do not.
//!
//! Must not know: whether a gateway is in between.

mod asking;
mod everything;
mod fastmcp;
mod fetch;
mod filesystem;
mod git;
mod memory;
mod time;

use serde_json::{Value, json};

use super::actor::Actor;
use super::differences::Played;
use super::ground;
use super::names::MADE;
use super::real::Real;
use super::world::World;

pub(super) use asking::play_asking;

/// Plays the script of a server, which finds its ground as it was made.
pub(super) fn play(Played { real, at }: Played, actor: &mut Actor, world: &World) {
    make_ground(real, world);
    all_listed(actor);
    match real {
        Real::Everything | Real::EverythingHttp | Real::EverythingSse => {
            everything::play(actor, real.source(), at);
        }
        Real::Filesystem => filesystem::play(actor, &ground::files(world.home())),
        Real::Memory => memory::play(actor),
        Real::Git => git::play(actor, &ground::repository(world.home())),
        Real::Time => time::play(actor),
        Real::Fetch => fetch::play(actor, &world.pages),
        Real::FastMcp | Real::FastMcpHttp => fastmcp::play(actor),
    }
}

/// Makes what the server works on as it is at the beginning.
fn make_ground(real: Real, world: &World) {
    match real {
        Real::Filesystem => ground::make_files(world.home()),
        Real::Memory => ground::make_memory(world.home()),
        Real::Git => ground::make_repository(world.home()),
        _ => {}
    }
}

/// Everything that is listed and can be had without knowing the server: resources, and prompts
/// that need nothing.
fn all_listed(actor: &mut Actor) {
    let [_, prompts, resources, _] = actor.lists();
    let uris = resources.iter().map(|one| one["uri"].as_str().unwrap());
    // What a call made is read where it is made.
    for uri in uris.filter(|uri| !uri.starts_with(MADE)) {
        actor.read(uri);
    }
    for prompt in prompts.iter().filter(|prompt| needs_nothing(prompt)) {
        actor.get(prompt["name"].as_str().unwrap(), json!({}));
    }
}

fn needs_nothing(prompt: &Value) -> bool {
    let arguments = prompt["arguments"].as_array();
    !arguments.is_some_and(|all| all.iter().any(|one| one["required"] == true))
}

/// What no server has, and what no server understands.
fn unknown(actor: &mut Actor) {
    actor.call("no-such-tool", json!({}));
    actor.get("no-such-prompt", json!({}));
    actor.read("none://such/resource");
}
