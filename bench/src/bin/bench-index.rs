//! Response times of the capability index with 1,000 and 100,000 elements (S0.33, S3.12): wall-clock
//! times of reads inside one process, as medians.
//!
//! `cold`: the page is generated from an existing index. `warm`: the page comes from the cache.
//! `first`: the index is built and all tokens are counted, as after a start.
#![allow(
    clippy::print_stdout,
    reason = "the report is for a person at a terminal"
)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::json;
use tidegate_core::{
    BoxFuture, Call, Caller, Catalog, CatalogEntry, ClientContext, CorrelationId, Error, Features,
    Gateway, GatewayConfig, GatewayHandle, Operation, Outcome, RawJson, Reply, Request, Result,
    Scope, SearchFilter, Source, SourceId, Viewer,
};
use tidegate_sources::gateway_tools::GatewayTools;
use tidegate_sources::index::{CapabilityIndex, FULL, IndexConfig, STATS, SUMMARY};
use tidegate_sources::tokens;

const VERBS: [&str; 12] = [
    "create", "list", "get", "update", "delete", "search", "send", "read", "merge", "export",
    "plan", "review",
];
const NOUNS: [&str; 40] = [
    "issue",
    "invoice",
    "branch",
    "customer",
    "ticket",
    "release",
    "message",
    "calendar",
    "contact",
    "report",
    "pipeline",
    "document",
    "sheet",
    "order",
    "shipment",
    "payment",
    "alert",
    "metric",
    "dashboard",
    "cluster",
    "secret",
    "policy",
    "team",
    "project",
    "milestone",
    "comment",
    "label",
    "page",
    "image",
    "video",
    "playlist",
    "device",
    "sensor",
    "route",
    "vehicle",
    "warehouse",
    "product",
    "price",
    "contract",
    "survey",
];

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    println!("| elements | what | first | cold | warm |");
    println!("|---|---|---|---|---|");
    for (count, rounds) in [(1_000, 30), (100_000, 5)] {
        measure(count, rounds).await?;
    }
    Ok(())
}

async fn measure(count: usize, rounds: usize) -> anyhow::Result<()> {
    tokens::load().await;
    for uri in [SUMMARY, FULL, STATS] {
        let fresh = Bench::new(count, Duration::ZERO)?;
        let first = fresh.timed(|bench| bench.read(uri)).await?;
        let cold = fresh.median(rounds, |bench| bench.read(uri)).await?;
        let kept = Bench::new(count, Duration::from_secs(300))?;
        kept.read(uri).await?;
        let warm = kept.median(rounds * 10, |bench| bench.read(uri)).await?;
        println!("| {count} | {uri} | {first:.1?} | {cold:.2?} | {warm:.1?} |");
    }
    let bench = Bench::new(count, Duration::ZERO)?;
    let first = bench.timed(|bench| bench.search("merge a branch")).await?;
    for query in ["merge a branch", "send invoice to customer", "plan"] {
        let took = bench
            .median(rounds * 4, |bench| bench.search(query))
            .await?;
        println!("| {count} | search \"{query}\" | {first:.1?} | {took:.2?} | |");
    }
    let index = bench.gateway_handle.index(&Scope::All, &bench.viewer())?;
    let found = index
        .search("merge a branch", SearchFilter::default(), 3)
        .len();
    anyhow::ensure!(found == 3, "the search found nothing");
    let mib = index.memory_bytes() as f64 / (1024.0 * 1024.0);
    println!("| {count} | memory of the index | {mib:.1} MiB | | |");
    let missing = "plugin://nobody/nothing?x=1";
    let took = bench
        .median(rounds * 10, |bench| async move {
            match bench
                .request(
                    Operation::Resource {
                        uri: missing.to_owned(),
                    },
                    json!({ "uri": missing }),
                )
                .await
            {
                Err(_) => Ok(()),
                Ok(_) => bail!("a resource that does not exist was found"),
            }
        })
        .await?;
    println!("| {count} | resolve a URI | | {took:.2?} | |");
    Ok(())
}

/// A gateway over one source with many elements.
struct Bench {
    gateway: Gateway,
    gateway_handle: GatewayHandle,
    caller: Arc<Caller>,
    client: ClientContext,
}

impl Bench {
    fn new(count: usize, cache_ttl: Duration) -> anyhow::Result<Self> {
        let gateway_handle = GatewayHandle::default();
        let config = IndexConfig {
            enabled: true,
            expose: Vec::new(),
            cache_ttl,
        };
        let index = CapabilityIndex::new(&config, gateway_handle.clone());
        let sources: Vec<(SourceId, Arc<dyn Source>)> = vec![
            ("many".parse()?, Arc::new(GeneratedSource::new(count))),
            ("index".parse()?, Arc::new(index)),
        ];
        let config = GatewayConfig {
            gateway_tools: Some(Arc::new(GatewayTools::new(gateway_handle.clone()))),
            gateway_handle: gateway_handle.clone(),
            ..GatewayConfig::default()
        };
        Ok(Self {
            gateway: Gateway::new(config, sources, Vec::new()),
            gateway_handle,
            caller: Arc::new(Caller::local()),
            client: ClientContext::default(),
        })
    }

    fn viewer(&self) -> Viewer<'_> {
        Viewer {
            caller: &self.caller,
            client: &self.client,
        }
    }

    async fn read(&self, uri: &str) -> anyhow::Result<()> {
        let operation = Operation::Resource {
            uri: uri.to_owned(),
        };
        let reply = self.request(operation, json!({ "uri": uri })).await?;
        let Reply::Done(Outcome::Complete { result, .. }) = reply else {
            bail!("{uri}: no result");
        };
        anyhow::ensure!(result.as_str().len() > 200, "{uri} is empty");
        Ok(())
    }

    async fn search(&self, query: &str) -> anyhow::Result<()> {
        let index = self.gateway_handle.index(&Scope::All, &self.viewer())?;
        anyhow::ensure!(!index.search(query, SearchFilter::default(), 10).is_empty());
        Ok(())
    }

    async fn request(&self, operation: Operation, params: serde_json::Value) -> Result<Reply> {
        let request = Request {
            correlation_id: CorrelationId::generate(),
            caller: Arc::clone(&self.caller),
            scope: Scope::All,
            label: "bench",
            client: self.client.clone(),
            operation,
            params: params.into(),
            is_continuation: false,
            precondition: None,
        };
        self.gateway.handle(request).await
    }

    async fn timed<'a, F: Future<Output = anyhow::Result<()>>>(
        &'a self,
        what: impl Fn(&'a Self) -> F,
    ) -> anyhow::Result<Duration> {
        let start = Instant::now();
        what(self).await?;
        Ok(start.elapsed())
    }

    async fn median<'a, F: Future<Output = anyhow::Result<()>>>(
        &'a self,
        rounds: usize,
        what: impl Fn(&'a Self) -> F,
    ) -> anyhow::Result<Duration> {
        let mut all = Vec::new();
        for _ in 0..rounds {
            all.push(self.timed(&what).await?);
        }
        all.sort();
        all.get(all.len() / 2).copied().context("no measurement")
    }
}

/// Generated elements that resemble those of real servers.
struct GeneratedSource(Arc<Catalog>);

impl GeneratedSource {
    fn new(count: usize) -> Self {
        let mut catalog = Catalog {
            features: Features::ALL,
            ..Catalog::default()
        };
        for number in 0..count {
            let verb = VERBS[number % VERBS.len()];
            let noun = NOUNS[number / VERBS.len() % NOUNS.len()];
            let other = NOUNS[(number * 7 + 3) % NOUNS.len()];
            let name = format!("{verb}_{noun}_{number}");
            let description = format!(
                "{verb} the {noun} of a {other}, with its {} and {}. Use it when the user asks for \
                 a {noun} that belongs to number {number}.",
                NOUNS[(number * 11) % NOUNS.len()],
                NOUNS[(number * 13 + 5) % NOUNS.len()],
            );
            match number % 10 {
                0..=6 => catalog.tools.push(tool(&name, &description, noun, other)),
                7 => catalog.prompts.push(prompt(&name, &description, noun)),
                8 => catalog.resources.push(resource(&name, &description)),
                _ => catalog.templates.push(template(&name, &description)),
            }
        }
        Self(Arc::new(catalog))
    }
}

fn tool(name: &str, description: &str, noun: &str, other: &str) -> CatalogEntry {
    let schema = json!({
        "type": "object",
        "properties": {
            format!("{noun}_id"): { "type": "string", "description": format!("The id of the {noun}.") },
            format!("{other}_name"): { "type": "string", "description": "Which one, by name." },
            "limit": { "type": "integer", "description": "How many at most.", "minimum": 1 },
        },
        "required": [format!("{noun}_id")],
    });
    entry(
        name,
        json!({ "name": name, "description": description, "inputSchema": schema }),
    )
}

fn prompt(name: &str, description: &str, noun: &str) -> CatalogEntry {
    let arguments = json!([{ "name": noun, "description": "Which one.", "required": true }]);
    entry(
        name,
        json!({ "name": name, "description": description, "arguments": arguments }),
    )
}

fn resource(name: &str, description: &str) -> CatalogEntry {
    let uri = format!("many://{name}");
    let definition = json!({
        "uri": uri, "name": name, "description": description, "mimeType": "application/json",
    });
    entry(&uri, definition)
}

fn template(name: &str, description: &str) -> CatalogEntry {
    let text = format!("many://{name}/{{id}}");
    let definition = json!({ "uriTemplate": text, "name": name, "description": description });
    entry(&text, definition)
}

fn entry(key: &str, definition: serde_json::Value) -> CatalogEntry {
    CatalogEntry {
        key: key.to_owned(),
        definition: RawJson::from(definition),
    }
}

impl Source for GeneratedSource {
    fn catalog(&self, _: &Viewer<'_>) -> Arc<Catalog> {
        Arc::clone(&self.0)
    }

    fn call(&self, _: Call) -> BoxFuture<'_, Result<Reply>> {
        Box::pin(std::future::ready(Err(Error::internal(
            "this source serves no calls",
        ))))
    }
}
