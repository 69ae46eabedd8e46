//! Servers that misbehave, behind the real program: each call gets one response in time, a healthy
//! server keeps working, and no resources leak.

/// Declares a test for each given kind of server.
macro_rules! on {
    ($test:ident: $($name:ident = $kind:ident),+ $(,)?) => {
        mod $test {
            $(
                #[test]
                fn $name() {
                    super::$test(crate::faults::rig::ServerKind::$kind);
                }
            )+
        }
    };
}

macro_rules! over_stdio {
    ($($test:ident),+ $(,)?) => {
        $(on!($test: stdio_legacy = StdioLegacy, stdio_modern = StdioModern);)+
    };
}

macro_rules! over_http {
    ($($test:ident),+ $(,)?) => {
        $(on!(
            $test: http_legacy = HttpLegacy, http_modern = HttpModern, http_event_stream = HttpEventStream,
        );)+
    };
}

macro_rules! over_all_transports {
    ($($test:ident),+ $(,)?) => {
        $(on!(
            $test: stdio_legacy = StdioLegacy, stdio_modern = StdioModern, http_legacy = HttpLegacy,
            http_modern = HttpModern, http_event_stream = HttpEventStream, http_sse = HttpSse,
        );)+
    };
}

mod crashes;
mod flooding;
mod invalid_responses;
mod lists;
mod resource_usage;
mod rig;
mod timeouts;
