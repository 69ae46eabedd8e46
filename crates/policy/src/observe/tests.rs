//! Counters and labels by outcome, read from the encoded metrics. The source is scripted.

use futures_util::FutureExt as _;
use prometheus_client::encoding::text::encode;
use prometheus_client::registry::Registry;
use tidegate_core::{
    Caller, Catalog, CatalogEntry, ClientContext, Gateway, GatewayConfig, RawJson, Request, Scope,
    Viewer,
};

use super::*;

const LABEL: &str = "read";

/// A source that owns `plugin://docs`. Reads that end in `stuck` never return, `broken` ones fail.
struct DocsSource;

impl Source for DocsSource {
    fn catalog(&self, _: &Viewer<'_>) -> Arc<Catalog> {
        let entry = |key: &str| CatalogEntry {
            key: key.to_owned(),
            definition: RawJson::empty_object(),
        };
        Arc::new(Catalog {
            owned: vec!["plugin://docs".to_owned()],
            resources: vec![entry("plugin://docs/top"), entry("plugin://docs/stuck")],
            templates: vec![
                entry("plugin://docs/{+any}"),
                entry("plugin://docs/books/{isbn}"),
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
                    "read failed",
                )),
                _ => Ok(Reply::Done(Outcome::complete(RawJson::empty_object()))),
            }
        })
    }
}

struct ObservedGateway {
    gateway: Gateway,
    registry: Registry,
}

impl ObservedGateway {
    fn new() -> Self {
        let docs = Arc::new(DocsSource) as Arc<dyn Source>;
        let sources = vec![("docs".parse().unwrap(), docs)];
        let (metrics, mut registry) = (Arc::new(CallMetrics::default()), Registry::default());
        metrics.register(&mut registry);
        let labels = MetricLabels {
            methods: vec![LABEL],
            error_kind: |_| "any",
        };
        let observe = Observe::new(Arc::default(), metrics, labels, &sources);
        let layers: Vec<Arc<dyn Layer>> = vec![Arc::new(observe)];
        Self {
            gateway: Gateway::new(GatewayConfig::default(), sources, layers),
            registry,
        }
    }

    fn read(&self, uri: &str) -> impl Future<Output = Result<Reply>> + '_ {
        self.gateway.handle(Request {
            correlation_id: CorrelationId::generate(),
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
    fn assert_line(&self, line: &str) {
        let mut text = String::new();
        encode(&mut text, &self.registry).unwrap();
        assert!(
            text.lines().any(|encoded| encoded == line),
            "{line}\n{text}"
        );
    }
}

fn reads(resource: &str, status: &str, count: u64) -> String {
    format!(
        "plugin_resource_reads_total{{plugin=\"docs\",resource=\"{resource}\",status=\"{status}\"}} \
         {count}"
    )
}

fn calls(outcome: &str, count: u64) -> String {
    format!("tidegate_calls_total{{source=\"docs\",method=\"read\",outcome=\"{outcome}\"}} {count}")
}

/// S0.31, S0.32: the label is the URI template, not the expanded URI.
#[tokio::test]
async fn counts_reads_of_a_template_under_the_template() {
    let gateway = ObservedGateway::new();
    for uri in [
        "plugin://docs/top",
        "plugin://docs/books/1",
        "plugin://docs/books/2",
        "plugin://docs/other/3",
    ] {
        gateway.read(uri).await.unwrap();
    }
    gateway
        .read("plugin://docs/books/broken")
        .await
        .unwrap_err();
    gateway.assert_line(&reads("top", "success", 1));
    gateway.assert_line(&reads("books/{isbn}", "success", 2));
    gateway.assert_line(&reads("books/{isbn}", "failure", 1));
    gateway.assert_line(&reads("{+any}", "success", 1));
    gateway.assert_line(&calls("success", 4));
    gateway.assert_line(&calls("failed", 1));
    gateway.assert_line("tidegate_errors_total{step=\"serve\",kind=\"any\"} 1");
}

#[tokio::test]
async fn counts_a_dropped_call_as_cancelled() {
    let gateway = ObservedGateway::new();
    let mut stuck = Box::pin(gateway.read("plugin://docs/stuck"));
    assert!((&mut stuck).now_or_never().is_none());
    gateway.assert_line("tidegate_calls_in_flight{source=\"docs\"} 1");
    drop(stuck);
    gateway.assert_line("tidegate_calls_in_flight{source=\"docs\"} 0");
    gateway.assert_line(&calls("cancelled", 1));
    gateway.assert_line(&reads("stuck", "cancelled", 1));
    gateway.assert_line("tidegate_call_duration_seconds_count{source=\"docs\",method=\"read\"} 0");
}
