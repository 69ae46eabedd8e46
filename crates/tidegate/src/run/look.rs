//! The commands that look into a gateway: a question, a place to ask it, an answer to print.
//!
//! Every question goes the way of a client's request, whether the gateway is put together here or
//! runs elsewhere.

mod answer;
mod call;
mod explain;
mod get;
mod given;
mod lists;
mod place;
mod question;
mod read;
mod search;
mod sources;
mod unknown;

use std::io;
use std::time::Duration;

use super::{in_runtime, quietly, record, stop_signal, tell};
use crate::cli::{Exit, Look, LookArgs};
use crate::config::{Environment, Secret, Settings, load, without_file};
use answer::Answer;
use place::Place;
use question::Question;

/// What was started ends by itself before this, or is ended.
const LEFTOVER: Duration = Duration::from_secs(2);

/// The variable with the key for a gateway that runs elsewhere. Not a flag: others could see it.
const KEY: &str = "TIDEGATE_KEY";

/// Asks, prints, and tells how it went.
pub(super) fn run(look: &Look, environment: &Environment<'_>) -> Exit {
    let question = match Question::of(look) {
        Ok(question) => question,
        Err(message) => return tell(&format!("tidegate: {message}"), Exit::Usage),
    };
    let args = look.args();
    let flags = args.flags(environment);
    let settings = match &args.url {
        // The file here says nothing about a gateway elsewhere, and may not even be good here.
        Some(_) => without_file(&flags, environment),
        None => load(&flags, environment),
    };
    let settings = match settings {
        Ok(settings) => settings,
        Err(problems) => return tell(&problems.to_string(), Exit::Usage),
    };
    let key = environment.variable(KEY).map(Secret::new);
    let asked = ask(&question, args, key, &settings);
    match in_runtime(&settings.log, LEFTOVER, asked) {
        Ok(answer) => quietly(answer.print(&mut io::stdout(), &mut io::stderr())),
        Err(exit) => exit,
    }
}

/// Opens the place, asks, and leaves nothing behind, however it went.
async fn ask(
    question: &Question,
    args: &LookArgs,
    key: Option<Secret>,
    settings: &Settings,
) -> anyhow::Result<Answer> {
    let stop = stop_signal()?;
    let running = || (!args.here).then(|| record::running(settings)).flatten();
    let place = match args.url.clone().or_else(running) {
        Some(url) => Place::at(&url, key, settings)?,
        None => Place::assembled(settings)?,
    };
    let answer = tokio::select! {
        answer = answer(question, &place, args.json) => answer,
        () = stop.cancelled() => Err(anyhow::anyhow!("stopped before there was an answer")),
    };
    place.close().await;
    answer
}

async fn answer(question: &Question, place: &Place, json: bool) -> anyhow::Result<Answer> {
    place.wait().await?;
    match question {
        Question::Sources => sources::answer(place, json).await,
        Question::List(lists) => lists::answer(place, lists, json).await,
        Question::Read { uri } => read::answer(place, uri, json).await,
        Question::Get { prompt, arguments } => get::answer(place, prompt, arguments, json).await,
        Question::Call { tool, arguments } => call::answer(place, tool, arguments, json).await,
        Question::Search { words } => search::answer(place, words, json).await,
        Question::Explain { uri } => explain::answer(place, uri, json).await,
    }
}
