//! What is counted, by what ended how. The sources here are scripted; the text is the real one.

use futures_util::FutureExt as _;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tidegate_core::{
    Caller, Catalog, CatalogEntry, ClientContext, Gateway, GatewayConfig, RawJson, Request, Scope,
    Viewer,
};

use super::*;

const LABEL: &str = "read";

/// Has the resources of a built-in source; one of them never answers.
struct Shelf;

impl Source for Shelf {
    fn catalog(&self, _: &Viewer<'_>) -> Arc<Catalog> {
        let entry = |key: &str| CatalogEntry {
            key: key.to_owned(),
            definition: RawJson::empty_object(),
        };
        Arc::new(Catalog {
            owned: vec!["plugin://shelf".to_owned()],
            resources: vec![entry("plugin://shelf/top"), entry("plugin://shelf/stuck")],
            templates: vec![
                entry("plugin://shelf/{+any}"),
                entry("plugin://shelf/books/{isbn}"),
            ],
            ..Catalog::default()
        })
    }

    fn call(&self, call: Call) -> BoxFuture<'_, Result<Reply>> {
        Box::pin(async move {
            match &call.operation {
                Operation::Resource { uri } if uri.ends_with("stuck") => {
                    std::future::pending().await
                }
                Operation::Resource { uri } if uri.ends_with("broken") => Err(Error::new(
                    Code::SourceFailed,
                    ErrorOrigin::Source,
                    "it broke",
                )),
                _ => Ok(Reply::Done(Outcome::complete(RawJson::empty_object()))),
            }
        })
    }
}

struct Bench {
    gateway: Gateway,
    registry: Registry,
}

impl Bench {
    fn new() -> Self {
        let shelf = Arc::new(Shelf) as Arc<dyn Source>;
        let sources = vec![("shelf".parse().unwrap(), shelf)];
        let (figures, mut registry) = (Arc::new(CallMetrics::default()), Registry::default());
        figures.register(&mut registry);
        let words = Words {
            methods: vec![LABEL],
            kind: |_| "any",
        };
        let observe = Observe::new(Arc::default(), figures, words, &sources);
        let layers: Vec<Arc<dyn Layer>> = vec![Arc::new(observe)];
        Self {
            gateway: Gateway::new(GatewayConfig::default(), sources, layers),
            registry,
        }
    }

    fn read(&self, uri: &str) -> impl Future<Output = Result<Reply>> + '_ {
        self.gateway.handle(Request {
            correlation: CorrelationId::fresh(),
            caller: Arc::new(Caller::local()),
            scope: Scope::All,
            label: LABEL,
            client: ClientContext::default(),
            operation: Operation::Resource {
                uri: uri.to_owned(),
            },
            params: RawJson::empty_object(),
            is_continuation: false,
            precondition: None,
        })
    }

    #[track_caller]
    fn has(&self, line: &str) {
        let mut text = String::new();
        encode(&mut text, &self.registry).unwrap();
        assert!(text.lines().any(|one| one == line), "{line}\n{text}");
    }
}

fn reads(resource: &str, status: &str, count: u64) -> String {
    format!(
        "plugin_resource_reads_total{{plugin=\"shelf\",resource=\"{resource}\",status=\"{status}\"}} \
         {count}"
    )
}

fn calls(outcome: &str, count: u64) -> String {
    format!(
        "tidegate_calls_total{{source=\"shelf\",method=\"read\",outcome=\"{outcome}\"}} {count}"
    )
}

/// S0.31, S0.32: a template's reads are the template's, whatever stands in its place.
#[tokio::test]
async fn what_a_template_stands_for_is_counted_under_the_template() {
    let bench = Bench::new();
    for uri in [
        "plugin://shelf/top",
        "plugin://shelf/books/1",
        "plugin://shelf/books/2",
        "plugin://shelf/other/3",
    ] {
        bench.read(uri).await.unwrap();
    }
    bench.read("plugin://shelf/books/broken").await.unwrap_err();
    bench.has(&reads("top", "success", 1));
    bench.has(&reads("books/{isbn}", "success", 2));
    bench.has(&reads("books/{isbn}", "failure", 1));
    bench.has(&reads("{+any}", "success", 1));
    bench.has(&calls("success", 4));
    bench.has(&calls("failed", 1));
    bench.has("tidegate_errors_total{step=\"serve\",kind=\"any\"} 1");
}

/// A call is under way until it ends, also where its client has gone.
#[tokio::test]
async fn what_nobody_waits_for_any_more_is_cancelled() {
    let bench = Bench::new();
    let mut stuck = Box::pin(bench.read("plugin://shelf/stuck"));
    assert!((&mut stuck).now_or_never().is_none());
    bench.has("tidegate_calls_in_flight{source=\"shelf\"} 1");
    drop(stuck);
    bench.has("tidegate_calls_in_flight{source=\"shelf\"} 0");
    bench.has(&calls("cancelled", 1));
    bench.has(&reads("stuck", "cancelled", 1));
    bench.has("tidegate_call_duration_seconds_count{source=\"shelf\",method=\"read\"} 0");
}
