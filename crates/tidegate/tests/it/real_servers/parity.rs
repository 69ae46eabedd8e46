//! The answers of each server through the gateway are its own.

use super::actor::Actor;
use super::client::Can;
use super::differences::{At, Differences, Played};
use super::names::Names;
use super::real::Real;
use super::scripts::{play, play_asking};
use super::unlike::unlike;
use super::world::World;

/// Plays the script of a server directly and through the gateway, in every era it speaks.
fn compare(real: Real, at: At) {
    let world = World::shared();
    let _turn = world.turn(real);
    let own_path = format!("/mcp/{}", real.source());
    let (path, names) = match at {
        At::ItsOwnPath | At::Asking => (own_path.as_str(), Names::Own),
        At::All => ("/mcp", real.names_of_all()),
    };
    let (can, play): (_, fn(Played, &mut Actor, &World)) = match at {
        At::ItsOwnPath | At::All => (Can::Nothing, play),
        At::Asking => (Can::BeAsked, play_asking),
    };
    let played = Played { real, at };
    let mut differences = Differences::of(played);
    let mut wrong = Vec::new();
    for era in real.eras() {
        let mut record = |client, names| {
            let mut actor = Actor::new(client, names);
            play(played, &mut actor, &world);
            let mut record = actor.end();
            differences.level(&mut record);
            record
        };
        let direct = record(world.directly(real, *era, can), Names::Own);
        let through = record(world.through(path, *era, can), names);
        let unlike = unlike(&direct, &through);
        wrong.extend(unlike.map(|(step, how)| format!("{era:?}: {step}\n{how}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let unseen = differences.unseen();
    assert!(unseen.is_empty(), "declared and never seen: {unseen:#?}");
}

/// At `/mcp/{source}` a server has its own names.
mod at_its_own_path {
    use super::super::differences::At;
    use super::super::real::Real;
    use super::compare;

    #[test]
    fn everything_on_a_pipe() {
        compare(Real::Everything, At::ItsOwnPath);
    }

    #[test]
    fn everything_over_http() {
        compare(Real::EverythingHttp, At::ItsOwnPath);
    }

    #[test]
    fn everything_by_the_oldest_transport() {
        compare(Real::EverythingSse, At::ItsOwnPath);
    }

    #[test]
    fn filesystem() {
        compare(Real::Filesystem, At::ItsOwnPath);
    }

    #[test]
    fn memory() {
        compare(Real::Memory, At::ItsOwnPath);
    }

    #[test]
    fn git() {
        compare(Real::Git, At::ItsOwnPath);
    }

    #[test]
    fn time() {
        compare(Real::Time, At::ItsOwnPath);
    }

    #[test]
    fn fetch() {
        compare(Real::Fetch, At::ItsOwnPath);
    }

    #[test]
    fn fastmcp_on_a_pipe() {
        compare(Real::FastMcp, At::ItsOwnPath);
    }

    #[test]
    fn fastmcp_over_http() {
        compare(Real::FastMcpHttp, At::ItsOwnPath);
    }
}

/// At `/mcp` every name says which server is meant.
mod among_all {
    use super::super::differences::At;
    use super::super::real::Real;
    use super::compare;

    #[test]
    fn everything_on_a_pipe() {
        compare(Real::Everything, At::All);
    }

    #[test]
    fn everything_over_http() {
        compare(Real::EverythingHttp, At::All);
    }

    #[test]
    fn everything_by_the_oldest_transport() {
        compare(Real::EverythingSse, At::All);
    }

    #[test]
    fn filesystem() {
        compare(Real::Filesystem, At::All);
    }

    #[test]
    fn memory() {
        compare(Real::Memory, At::All);
    }

    #[test]
    fn git() {
        compare(Real::Git, At::All);
    }

    #[test]
    fn time() {
        compare(Real::Time, At::All);
    }

    #[test]
    fn fetch() {
        compare(Real::Fetch, At::All);
    }

    #[test]
    fn fastmcp_on_a_pipe() {
        compare(Real::FastMcp, At::All);
    }

    #[test]
    fn fastmcp_over_http() {
        compare(Real::FastMcpHttp, At::All);
    }
}

/// A client that can be asked something is shown more, and asked.
mod asking {
    use super::super::differences::At;
    use super::super::real::Real;
    use super::compare;

    #[test]
    fn everything_on_a_pipe() {
        compare(Real::Everything, At::Asking);
    }

    #[test]
    fn everything_over_http() {
        compare(Real::EverythingHttp, At::Asking);
    }

    #[test]
    fn everything_by_the_oldest_transport() {
        compare(Real::EverythingSse, At::Asking);
    }

    #[test]
    fn filesystem() {
        compare(Real::Filesystem, At::Asking);
    }

    #[test]
    fn fastmcp_on_a_pipe() {
        compare(Real::FastMcp, At::Asking);
    }

    #[test]
    fn fastmcp_over_http() {
        compare(Real::FastMcpHttp, At::Asking);
    }
}
