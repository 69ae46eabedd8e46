//! Servers that misbehave, behind the real program: each call gets one answer within its time, the
//! server beside them works all the while, and nothing is left of it afterwards.

/// A test for each kind of server that is named.
macro_rules! on {
    ($test:ident: $($name:ident = $kind:ident),+ $(,)?) => {
        mod $test {
            $(
                #[test]
                fn $name() {
                    super::$test(crate::faults::rig::Kind::$kind);
                }
            )+
        }
    };
}

macro_rules! on_pipes {
    ($($test:ident),+ $(,)?) => {
        $(on!($test: pipe_legacy = PipeLegacy, pipe_modern = PipeModern);)+
    };
}

macro_rules! over_http {
    ($($test:ident),+ $(,)?) => {
        $(on!(
            $test: http_legacy = HttpLegacy, http_modern = HttpModern, http_events = HttpEvents,
        );)+
    };
}

macro_rules! everywhere {
    ($($test:ident),+ $(,)?) => {
        $(on!(
            $test: pipe_legacy = PipeLegacy, pipe_modern = PipeModern, http_legacy = HttpLegacy,
            http_modern = HttpModern, http_events = HttpEvents, http_oldest = HttpOldest,
        );)+
    };
}

mod answers;
mod endings;
mod lists;
mod rig;
mod silence;
mod too_much;
mod usage;
