//! The responses of each server through the gateway equal its direct responses.

use super::client::ClientCapabilities;
use super::comparison::differing_steps;
use super::deployment::Deployment;
use super::differences::{Comparison, Differences, Endpoint};
use super::names::Names;
use super::recorder::Recorder;
use super::scripts::{run_script, run_with_questions};
use super::server_kind::ServerKind;

/// Runs the script of a server directly and through the gateway, in every era it supports.
fn compare(server: ServerKind, at: Endpoint) {
    let deployment = Deployment::shared();
    let _lock = deployment.lock(server);
    let own_path = format!("/mcp/{}", server.source());
    let (path, names) = match at {
        Endpoint::OwnPath | Endpoint::WithQuestions => (own_path.as_str(), Names::Own),
        Endpoint::All => ("/mcp", server.names_at_all_sources()),
    };
    let (capabilities, run_script): (_, fn(Comparison, &mut Recorder, &Deployment)) = match at {
        Endpoint::OwnPath | Endpoint::All => (ClientCapabilities::None, run_script),
        Endpoint::WithQuestions => (ClientCapabilities::All, run_with_questions),
    };
    let comparison_run = Comparison { server, at };
    let mut differences = Differences::of(comparison_run);
    let mut wrong = Vec::new();
    for era in server.eras() {
        let mut record = |client, names| {
            let mut recorder = Recorder::new(client, names);
            run_script(comparison_run, &mut recorder, &deployment);
            let mut record = recorder.end();
            differences.apply(&mut record);
            record
        };
        let direct = record(deployment.directly(server, *era, capabilities), Names::Own);
        let through = record(deployment.through(path, *era, capabilities), names);
        let differing_steps = differing_steps(&direct, &through);
        wrong.extend(differing_steps.map(|(step, how)| format!("{era:?}: {step}\n{how}")));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    let missing = differences.missing();
    assert!(
        missing.is_empty(),
        "declared but did not occur: {missing:#?}"
    );
}

/// At `/mcp/{source}` a server has its own names.
mod at_its_own_path {
    use super::super::differences::Endpoint;
    use super::super::server_kind::ServerKind;
    use super::compare;

    #[test]
    fn everything_over_stdio() {
        compare(ServerKind::Everything, Endpoint::OwnPath);
    }

    #[test]
    fn everything_over_http() {
        compare(ServerKind::EverythingHttp, Endpoint::OwnPath);
    }

    #[test]
    fn everything_over_sse() {
        compare(ServerKind::EverythingSse, Endpoint::OwnPath);
    }

    #[test]
    fn filesystem() {
        compare(ServerKind::Filesystem, Endpoint::OwnPath);
    }

    #[test]
    fn memory() {
        compare(ServerKind::Memory, Endpoint::OwnPath);
    }

    #[test]
    fn git() {
        compare(ServerKind::Git, Endpoint::OwnPath);
    }

    #[test]
    fn time() {
        compare(ServerKind::Time, Endpoint::OwnPath);
    }

    #[test]
    fn fetch() {
        compare(ServerKind::Fetch, Endpoint::OwnPath);
    }

    #[test]
    fn fastmcp_over_stdio() {
        compare(ServerKind::FastMcp, Endpoint::OwnPath);
    }

    #[test]
    fn fastmcp_over_http() {
        compare(ServerKind::FastMcpHttp, Endpoint::OwnPath);
    }
}

/// At `/mcp` names are prefixed with the source.
mod at_all_sources {
    use super::super::differences::Endpoint;
    use super::super::server_kind::ServerKind;
    use super::compare;

    #[test]
    fn everything_over_stdio() {
        compare(ServerKind::Everything, Endpoint::All);
    }

    #[test]
    fn everything_over_http() {
        compare(ServerKind::EverythingHttp, Endpoint::All);
    }

    #[test]
    fn everything_over_sse() {
        compare(ServerKind::EverythingSse, Endpoint::All);
    }

    #[test]
    fn filesystem() {
        compare(ServerKind::Filesystem, Endpoint::All);
    }

    #[test]
    fn memory() {
        compare(ServerKind::Memory, Endpoint::All);
    }

    #[test]
    fn git() {
        compare(ServerKind::Git, Endpoint::All);
    }

    #[test]
    fn time() {
        compare(ServerKind::Time, Endpoint::All);
    }

    #[test]
    fn fetch() {
        compare(ServerKind::Fetch, Endpoint::All);
    }

    #[test]
    fn fastmcp_over_stdio() {
        compare(ServerKind::FastMcp, Endpoint::All);
    }

    #[test]
    fn fastmcp_over_http() {
        compare(ServerKind::FastMcpHttp, Endpoint::All);
    }
}

/// A client with capabilities sees more tools and is asked questions.
mod with_questions {
    use super::super::differences::Endpoint;
    use super::super::server_kind::ServerKind;
    use super::compare;

    #[test]
    fn everything_over_stdio() {
        compare(ServerKind::Everything, Endpoint::WithQuestions);
    }

    #[test]
    fn everything_over_http() {
        compare(ServerKind::EverythingHttp, Endpoint::WithQuestions);
    }

    #[test]
    fn everything_over_sse() {
        compare(ServerKind::EverythingSse, Endpoint::WithQuestions);
    }

    #[test]
    fn filesystem() {
        compare(ServerKind::Filesystem, Endpoint::WithQuestions);
    }

    #[test]
    fn fastmcp_over_stdio() {
        compare(ServerKind::FastMcp, Endpoint::WithQuestions);
    }

    #[test]
    fn fastmcp_over_http() {
        compare(ServerKind::FastMcpHttp, Endpoint::WithQuestions);
    }
}
