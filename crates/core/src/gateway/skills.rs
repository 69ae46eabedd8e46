//! The skills of all sources in one list. Unlike other lists it is requested from the sources when a client
//! asks: an entry contains the digests of files, which must match what a read returns now, and nothing
//! announces that they have changed.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::value::RawValue;

use super::GatewayInner;
use super::rewrite::ResponseRewriter;
use super::view::{INCOMPLETE_SOURCES, View};
use crate::extensions::SKILLS;
use crate::{
    CacheHint, CacheScope, Call, Code, Error, ErrorOrigin, Next, Object, Operation, Outcome,
    RawJson, Reply, Result, SkillOperation, bounded_list,
};

/// Pages of one source, and skills on one page.
const MAX_PAGES: usize = 100;
const MAX_SKILLS: usize = 10_000;

/// The skills of one source.
#[derive(Default)]
struct SourceSkills {
    /// The entries, with the URIs of clients.
    entries: Vec<String>,
    /// The shortest cache lifetime of its pages.
    ttl: Option<Duration>,
    /// Why there may be more.
    cut_off: Option<&'static str>,
}

impl GatewayInner {
    pub(super) async fn list_skills(&self, call: &Call) -> Result<Reply> {
        let view = self.view(&call.scope, &call.viewer());
        let sources = view.names.sources().iter().enumerate();
        let with_skills = sources.filter(|(_, source)| source.declares(SKILLS));
        let lists = join_all(with_skills.map(|(number, source)| {
            let view = &view;
            async move { (source.id.clone(), self.skills_of(view, number, call).await) }
        }));
        let (mut entries, mut ttl) = (Vec::new(), None::<Duration>);
        let mut missing = serde_json::Map::new();
        for (id, skills) in lists.await {
            match skills {
                Ok(skills) => {
                    if let Some(reason) = skills.cut_off {
                        let reason = format!("its list of skills is cut off: {reason}");
                        missing.insert(id.to_string(), reason.into());
                    }
                    entries.extend(skills.entries);
                    let ttls = [ttl, Some(skills.ttl.unwrap_or_default())];
                    ttl = ttls.into_iter().flatten().min();
                }
                Err(error) => drop(missing.insert(id.to_string(), error.message().into())),
            }
        }
        let mut result = Object::default();
        result.set("skills", format!("[{}]", entries.join(",")));
        if !missing.is_empty() {
            ttl = None;
            let meta = serde_json::json!({ INCOMPLETE_SOURCES: missing });
            result.set("_meta", meta.to_string());
        }
        let ttl = ttl.unwrap_or_default();
        let outcome = Outcome::cacheable(result.write(), ttl, CacheScope::Private);
        Ok(Reply::Done(outcome))
    }

    async fn skills_of(
        &self,
        view: &Arc<View>,
        number: usize,
        call: &Call,
    ) -> Result<SourceSkills> {
        let rewriter = ResponseRewriter {
            names: Arc::clone(&view.names),
            source: number,
            operation: Operation::Skill(SkillOperation::List),
            requested_uri: None,
            task_ids: None,
        };
        let (mut skills, mut cursor) = (SourceSkills::default(), None::<String>);
        for _ in 0..MAX_PAGES {
            let (page, hint) = self
                .skill_page(view, number, call, cursor.as_deref())
                .await?;
            let members = page.object().unwrap_or_default();
            let entries = members.get("skills").unwrap_or("[]");
            let entries: Vec<&RawValue> = bounded_list(entries, MAX_SKILLS)
                .map_err(|_| malformed("its list of skills is malformed"))?;
            skills.entries.extend(entries.iter().map(|entry| {
                let rewritten = rewriter.skill(entry.get());
                rewritten.unwrap_or_else(|| entry.get().to_owned())
            }));
            let ttl = hint.map_or(Duration::ZERO, |hint| hint.ttl);
            skills.ttl = Some(skills.ttl.map_or(ttl, |shortest| shortest.min(ttl)));
            match members.string("nextCursor") {
                None => return Ok(skills),
                Some(_) if skills.entries.len() > MAX_SKILLS => break,
                next if next == cursor => {
                    skills.cut_off = Some("a cursor was repeated");
                    return Ok(skills);
                }
                next => cursor = next,
            }
        }
        skills.cut_off = Some("it has too many pages or entries");
        Ok(skills)
    }

    /// One page of a source's own list.
    async fn skill_page(
        &self,
        view: &View,
        number: usize,
        call: &Call,
        cursor: Option<&str>,
    ) -> Result<(RawJson, Option<CacheHint>)> {
        let mut params = call.params.object().unwrap_or_default();
        params.remove("cursor");
        if let Some(cursor) = cursor {
            params.set("cursor", RawJson::string(cursor).as_str().to_owned());
        }
        let page_call = Call {
            source: view.names.sources()[number].id.clone(),
            params: params.write(),
            ..call.clone()
        };
        let next = Next::new(&self.layers, view.source(number).as_ref());
        match next.run(page_call).await?.into_outcome().await? {
            Outcome::Complete { result, hint } => Ok((result, hint)),
            _ => Err(malformed("its list of skills needs input")),
        }
    }
}

fn malformed(message: &str) -> Error {
    Error::new(Code::SourceFailed, ErrorOrigin::Source, message)
}
