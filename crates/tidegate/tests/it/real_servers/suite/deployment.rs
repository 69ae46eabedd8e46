//! Runs the steps of one server directly, and through a gateway that has this source alone.

use std::fs;
use std::iter;
use std::path::Path;

use serde_json::{Value, json};

use super::super::client::{Client, ClientCapabilities, Era};
use super::super::deployment::STARTUP_WAIT;
use super::super::differences::{Differences, Endpoint, Scope};
use super::super::names::Names;
use super::super::recorder::{Entry, ROUND, Recorder};
use super::super::transport::{Http, StdioTransport, Transport};
use super::super::workspace;
use super::declared::Declared;
use super::outcome::Outcome;
use super::steps::{run_generated, run_step};
use super::table::Row;
use crate::support::tools::Tools;
use crate::support::{Home, Server};

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// Makes all comparisons of a server.
pub(super) fn compare_all(row: &Row, declared: &mut Declared) -> Outcome {
    let deployment = Deployment::of(row);
    let mut outcome = Outcome::of(row);
    let direct = deployment.direct_runs();
    for at in [Endpoint::OwnPath, Endpoint::All] {
        for era in ERAS {
            let through = deployment.through(at, era);
            let mut comparison = Comparison::of(row, at, era, declared, &mut outcome);
            comparison.add("", direct.of(era), through);
        }
    }
    if row.has_state {
        for era in ERAS {
            let clients = deployment.two_clients(era);
            let mut comparison =
                Comparison::of(row, Endpoint::OwnPath, era, declared, &mut outcome);
            comparison.scope.has_two_clients = true;
            for (name, through) in ["first of two", "second of two"].iter().zip(clients) {
                comparison.add(name, direct.written_steps_of(era), through);
            }
        }
    }
    outcome
}

/// One endpoint and one era.
struct Comparison<'a> {
    scope: Scope,
    era: Era,
    declared: &'a mut Declared,
    outcome: &'a mut Outcome,
}

impl<'a> Comparison<'a> {
    fn of(
        row: &Row,
        at: Endpoint,
        era: Era,
        declared: &'a mut Declared,
        outcome: &'a mut Outcome,
    ) -> Self {
        let scope = Scope {
            source: row.name,
            at,
            is_listed: true,
            is_bridged: era == Era::Modern && !row.is_modern,
            has_two_clients: false,
        };
        Self {
            scope,
            era,
            declared,
            outcome,
        }
    }

    fn add(&mut self, client: &str, direct: &[Entry], through: Vec<Entry>) {
        let mut direct = direct.to_vec();
        let mut through = aligned(&mut direct, through);
        let mut differences = Differences::of(self.scope);
        differences.apply_to_pair(&mut direct, &mut through);
        self.declared.add(self.scope.source, &differences);
        let what = format!("{:?} {:?} {client}", self.scope.at, self.era);
        self.outcome.add(what.trim_end(), &direct, &through);
    }
}

/// The entries of a record in the order of the steps of another. A missing step has no outcome, and
/// neither has an additional one, except a round of questions: a modern client is asked in results.
fn aligned(direct: &mut Vec<Entry>, mut through: Vec<Entry>) -> Vec<Entry> {
    let no_outcome = |step: &str| Entry {
        step: step.to_owned(),
        outcome: json!("missing"),
    };
    let mut entries = Vec::new();
    for entry in direct.iter() {
        let position = through.iter().position(|one| one.step == entry.step);
        entries.push(match position {
            Some(at) => through.remove(at),
            None => no_outcome(&entry.step),
        });
    }
    through.retain(|entry| !entry.step.ends_with(ROUND));
    direct.extend(through.iter().map(|entry| no_outcome(&entry.step)));
    entries.extend(through);
    entries
}

/// The direct records.
struct DirectRuns {
    legacy: Vec<Entry>,
    /// If the server supports this era.
    modern: Option<Vec<Entry>>,
    written_steps: usize,
}

impl DirectRuns {
    /// The record to compare a client of this era with.
    fn of(&self, era: Era) -> &[Entry] {
        match (era, &self.modern) {
            (Era::Modern, Some(modern)) => modern,
            _ => &self.legacy,
        }
    }

    fn written_steps_of(&self, era: Era) -> &[Entry] {
        let record = self.of(era);
        &record[record.len() - self.written_steps..]
    }
}

/// A server, its files and its commands.
struct Deployment<'a> {
    row: &'a Row,
    tools: Tools,
    /// The home folder of the server, the same for all runs.
    home: Home,
}

impl<'a> Deployment<'a> {
    fn of(row: &'a Row) -> Self {
        Self {
            row,
            tools: Tools::find(),
            home: Home::new(),
        }
    }

    fn direct_runs(&self) -> DirectRuns {
        let modern = self.row.is_modern.then(|| self.directly(Era::Modern));
        DirectRuns {
            legacy: self.directly(Era::Legacy),
            modern,
            written_steps: self.row.steps.len(),
        }
    }

    fn directly(&self, era: Era) -> Vec<Entry> {
        self.create_files();
        let arguments = self.arguments();
        let mut command = self.home.command(&arguments[0]);
        command.env_remove("XDG_DATA_HOME");
        command.args(&arguments[1..]).envs(self.env());
        let transport = StdioTransport::start(&mut command);
        self.run(self.client(transport, era, "it"), Names::Own)
    }

    fn through(&self, at: Endpoint, era: Era) -> Vec<Entry> {
        let gateway = self.start_gateway();
        let (path, names) = match at {
            Endpoint::All => (
                "/mcp".to_owned(),
                Names::alone_at_all_sources(self.row.name),
            ),
            _ => (self.own_path(), Names::Own),
        };
        let transport = Http::to(gateway.address, &path);
        let record = self.run(self.client(transport, era, "it"), names);
        gateway.stop();
        record
    }

    /// The records of two clients that take turns with the written steps. The second is one step
    /// behind, so that it would see a change that the first made.
    fn two_clients(&self, era: Era) -> [Vec<Entry>; 2] {
        let gateway = self.start_gateway();
        let mut recorders = ["first", "second"].map(|name| {
            let transport = Http::to(gateway.address, &self.own_path());
            let mut recorder = Recorder::new(self.client(transport, era, name), Names::Own);
            recorder.discard_last_step();
            recorder
        });
        let steps: Vec<_> = self
            .row
            .steps
            .iter()
            .map(|step| self.substitute(step))
            .collect();
        let [first, second] = &mut recorders;
        let previous_steps = iter::once(None).chain(steps.iter().map(Some));
        for (step, previous) in steps.iter().map(Some).chain([None]).zip(previous_steps) {
            step.into_iter().for_each(|step| run_step(first, step));
            previous.into_iter().for_each(|step| run_step(second, step));
        }
        let records = recorders.map(Recorder::end);
        gateway.stop();
        records
    }

    fn run(&self, client: Client, names: Names) -> Vec<Entry> {
        let mut recorder = Recorder::new(client, names);
        run_generated(&mut recorder, self.row);
        for step in &self.row.steps {
            run_step(&mut recorder, &self.substitute(step));
        }
        recorder.end()
    }

    /// A gateway with this source, on freshly created files.
    fn start_gateway(&self) -> Server {
        self.create_files();
        let arguments = self.arguments();
        let mut env: Value = self.env().into_iter().collect();
        env["HOME"] = self.home.path().to_str().unwrap().into();
        let source = json!({
            "command": arguments[0], "args": arguments[1..], "env": env, "cwd": self.home.path(),
        });
        let config = format!("{STARTUP_WAIT}sources:\n  {}: {source}\n", self.row.name);
        Server::with_config(&config)
    }

    fn create_files(&self) {
        workspace::recreate(&self.home);
        for (path, text) in &self.row.files {
            let path = self.home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
    }

    fn client(&self, transport: impl Transport + 'static, era: Era, name: &'static str) -> Client {
        let capabilities = match self.row.asks_client {
            true => ClientCapabilities::All,
            false => ClientCapabilities::None,
        };
        let root = format!("file://{}", workspace::files(&self.home).display());
        Client::new(Box::new(transport), era, capabilities)
            .with_roots(json!([{ "uri": root, "name": "files" }]))
            .with_name(name)
    }

    fn own_path(&self) -> String {
        format!("/mcp/{}", self.row.name)
    }

    fn arguments(&self) -> Vec<String> {
        let program = self.tools.program(self.row.set, self.row.command[0]);
        let arguments = self.row.command[1..].iter();
        program
            .into_iter()
            .chain(arguments.map(|one| self.substitute(one)))
            .collect()
    }

    fn env(&self) -> Vec<(String, String)> {
        let variables = self.row.env.iter();
        variables
            .map(|(name, value)| ((*name).to_owned(), self.substitute(value)))
            .collect()
    }

    /// Replaces the names of folders by their paths.
    fn substitute(&self, text: &str) -> String {
        let path = |path: &Path| path.to_str().unwrap().to_owned();
        text.replace("{files}", &path(&workspace::files(&self.home)))
            .replace("{repository}", &path(&workspace::repository(&self.home)))
            .replace("{home}", &path(self.home.path()))
    }
}
