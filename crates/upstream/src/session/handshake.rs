//! The first words on a link: how the server speaks, and a session if it must have one.

use tidegate_core::{ClientContext, Error, RawJson};
use tidegate_interaction::capabilities::declares_roots;
use tidegate_mcp::revision::client::{RequestEncoder, ServerFacts};

use crate::session::era_detection::{Numbers, Probed, Unwelcome, discover, initialize};
use crate::session::{Link, Session, unavailable};

/// Which way of speaking to try first.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Try {
    /// Without a session if the server can, else with one.
    Both,
    /// With a session: the server is known to need one, or to have them too.
    Session,
    /// With a session, and not otherwise.
    SessionAlone,
    /// Without a session, and not otherwise.
    Stateless,
}

/// A server that can be spoken to.
pub(crate) struct Greeted {
    pub(crate) facts: ServerFacts,
    /// Whether it had to be waited for, in vain, to find out how it speaks.
    pub(crate) the_hard_way: bool,
}

/// Why a server cannot be spoken to.
pub(crate) enum Failed {
    /// It was not reached, or wants something else first.
    Unreached(Error),
    /// It was reached, and understood neither way of speaking.
    Refused(Error),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Unreached(error)
    }
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Unreached(error) | Failed::Refused(error) => error,
        }
    }
}

/// Finds out how a server speaks; opens a session if it must.
pub(crate) async fn greet(
    link: &dyn Link,
    numbers: &Numbers,
    capabilities: &RawJson,
    ways: Try,
) -> Result<Greeted, Failed> {
    let mut the_hard_way = false;
    if matches!(ways, Try::Both | Try::Stateless) {
        match discover(link, numbers).await? {
            Probed::Modern(facts) => return Ok(stateless(facts)),
            _ if ways == Try::Stateless => {
                let message = "does not speak without sessions, as `era: modern` says";
                return Err(Failed::Unreached(unavailable(message)));
            }
            Probed::Legacy => {}
            Probed::Silent => the_hard_way = true,
        }
    }
    match initialize(link, numbers, capabilities).await? {
        Ok(facts) => {
            enter(link, &facts, capabilities).await?;
            Ok(Greeted {
                facts,
                the_hard_way,
            })
        }
        Err(Unwelcome::Refused(error)) => Err(Failed::Refused(error)),
        Err(Unwelcome::Modern) if ways == Try::SessionAlone => Err(Failed::Unreached(unavailable(
            "does not speak in sessions, as `era: legacy` says",
        ))),
        // It was not awake when it was asked, or has become another since.
        Err(Unwelcome::Modern) => match discover(link, numbers).await? {
            Probed::Modern(facts) => Ok(stateless(facts)),
            Probed::Legacy | Probed::Silent => Err(Failed::Unreached(unavailable(
                "the source opens no session, and does not do without",
            ))),
        },
    }
}

fn stateless(facts: ServerFacts) -> Greeted {
    Greeted {
        facts,
        the_hard_way: false,
    }
}

/// Begins the session that the handshake opened.
async fn enter(link: &dyn Link, facts: &ServerFacts, capabilities: &RawJson) -> Result<(), Error> {
    link.enter(Session {
        revision: facts.revision,
        shows_folders: declares_roots(capabilities),
    });
    let encoder = RequestEncoder {
        revision: facts.revision,
        client: ClientContext::default(),
    };
    link.notify(encoder.initialized()).await?;
    link.follow().await;
    Ok(())
}
