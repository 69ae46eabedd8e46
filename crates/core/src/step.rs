//! The steps of a request, as code, logs and metrics name them.

/// One of the eight steps from a client's bytes to its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    Accept,
    Identify,
    Decode,
    Lift,
    Resolve,
    Govern,
    Serve,
    Lower,
}

impl Step {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Accept => "accept",
            Self::Identify => "identify",
            Self::Decode => "decode",
            Self::Lift => "lift",
            Self::Resolve => "resolve",
            Self::Govern => "govern",
            Self::Serve => "serve",
            Self::Lower => "lower",
        }
    }
}
