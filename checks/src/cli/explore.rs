//! `coursecheck explore SPACE`

use super::{Failure, Format, Outcome, write_json};
use crate::explore::spaces::{self, Space, System};
use crate::explore::timeline::{Row, Trace};
use crate::explore::{Exploration, Limits, Search, Verdict};
use crate::spec::yaml;
use crate::suite::{Error, Suite};
use indicatif::{ProgressBar, ProgressStyle};
use models::state_spaces::Kind;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// leader-election or saga.
    #[arg(value_name = "SPACE")]
    space: String,
    /// Replaces a bound or a switch; VALUE is YAML.
    #[arg(long = "set", value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Switches a mechanism off: fencing, trigger, keys, supervisor, the name of a subscription.
    #[arg(long, value_name = "MECHANISM")]
    without: Vec<String>,
    /// Takes the spec's larger bounds, and compares what is found with what it records; takes minutes.
    #[arg(long, conflicts_with_all = ["set", "without"])]
    long: bool,
    /// Stops when so many states were looked at; the result is then bounded and no proof.
    #[arg(long, value_name = "NUMBER", default_value_t = 20_000_000)]
    max_states: usize,
    /// Opens stateright's Explorer in place of a report; a port alone is one of this machine only.
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "3000")]
    serve: Option<String>,
}

/// An exploration as JSON; in the verification of everything without its traces.
#[derive(Serialize)]
pub(super) struct SpaceJson {
    pub(super) model: &'static str,
    bounds: Value,
    complete: bool,
    pub(super) distinct_states: usize,
    depth: usize,
    pub(super) properties: Vec<PropertyJson>,
}

#[derive(Serialize)]
pub(super) struct PropertyJson {
    name: &'static str,
    kind: &'static str,
    verdict: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<Option<Vec<StepJson>>>,
}

#[derive(Serialize)]
struct StepJson {
    action: String,
    changes: Vec<String>,
}

pub(super) fn run(
    suite: &Suite,
    arguments: &Arguments,
    format: Format,
    out: &mut impl Write,
) -> Result<Outcome, Failure> {
    let space = Space::find(&arguments.space).map_err(Error::Call)?;
    let Some(spec) = suite.spec.state_spaces.get(space) else {
        return Err(Error::Call(format!("{} has no bounds in the spec", space.name())).into());
    };
    let set = if arguments.long { spec.long.set.clone() } else { settings(&arguments.set)? };
    let parameters = spaces::with(&spec.parameters, &set).map_err(|error| Error::Call(format!("--set {error}")))?;
    let system = space.prepare(&parameters, &arguments.without).map_err(Error::Call)?;
    if let Some(address) = &arguments.serve {
        return serve(&*system, address);
    }
    let exploration = explore(&*system, arguments.max_states)?;
    match format {
        Format::Json => write_json(out, &SpaceJson::new(space, &exploration, true))?,
        Format::Human => write_human(out, space, &arguments.without, &exploration)?,
    }
    if arguments.long && exploration.complete {
        let differences = spaces::differences(space.name(), &spec.long.expected, &exploration);
        differences.iter().for_each(|difference| anstream::eprintln!("coursecheck: {difference}"));
        return Ok(if differences.is_empty() { Outcome::Holds } else { Outcome::Fails });
    }
    let count = |verdict| exploration.with(verdict).count();
    Ok(match (count(Verdict::Fails), count(Verdict::Undecided)) {
        (1.., _) => Outcome::Fails,
        (0, 1..) => Outcome::NothingChecked,
        (0, 0) => Outcome::Holds,
    })
}

/// Reads `NAME=VALUE` arguments.
fn settings(arguments: &[String]) -> Result<BTreeMap<String, Value>, Error> {
    let setting = |argument: &String| {
        let (name, text) = argument.split_once('=').ok_or("expected NAME=VALUE")?;
        Ok((name.to_owned(), yaml::value(text)?))
    };
    let read = |argument: &String| {
        setting(argument).map_err(|error: String| Error::Call(format!("--set {argument}: {error}")))
    };
    arguments.iter().map(read).collect()
}

/// Explores, with the progress on a terminal. The first Ctrl-C ends the search and reports what it saw by then.
fn explore(system: &dyn System, max_states: usize) -> Result<Exploration, Failure> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&interrupted);
    // Without a handler Ctrl-C ends the process, which is all that is lost.
    let _ = ctrlc::set_handler(move || {
        if seen.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
    let bar = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {human_pos} distinct states, {elapsed}") {
        bar.set_style(style);
    }
    let limits = Limits { states: Some(max_states), interrupted };
    let exploration = system.explore(Search::BreadthFirst, &limits, &mut |states| bar.set_position(states as u64));
    bar.finish_and_clear();
    Ok(exploration.map_err(|refused| Error::Call(refused.to_string()))?)
}

fn serve(system: &dyn System, address: &str) -> Result<Outcome, Failure> {
    let unusable = |error: &dyn std::fmt::Display| Error::Call(format!("--serve {address}: {error}"));
    let resolved = match address.trim_start_matches(':').parse::<u16>() {
        Ok(port) => SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        Err(_) => {
            let mut addresses = address.to_socket_addrs().map_err(|error| unusable(&error))?;
            addresses.next().ok_or_else(|| unusable(&"the name has no address"))?
        }
    };
    // The Explorer panics where it cannot listen, so this is found out here.
    let free =
        TcpListener::bind(resolved).and_then(|listener| listener.local_addr()).map_err(|error| unusable(&error))?;
    anstream::eprintln!("stateright's Explorer: http://{free}/ (Ctrl-C ends it)");
    system.serve(free).map_err(|refused| Error::Call(refused.to_string()))?;
    Ok(Outcome::Holds)
}

impl SpaceJson {
    pub(super) fn new(space: Space, exploration: &Exploration, traces: bool) -> Self {
        let Exploration { bounds, complete, distinct_states, depth, properties, .. } = exploration;
        let properties = properties.iter().map(|property| PropertyJson {
            name: property.name,
            kind: match property.kind {
                Kind::Always | Kind::AtTheEnd => "always",
                Kind::Sometimes => "sometimes",
            },
            verdict: property.verdict.word(),
            trace: traces.then(|| property.trace.as_ref().map(steps)),
        });
        Self {
            model: space.name(),
            bounds: bounds.clone(),
            complete: *complete,
            distinct_states: *distinct_states,
            depth: *depth,
            properties: properties.collect(),
        }
    }
}

fn steps(trace: &Trace) -> Vec<StepJson> {
    let lane = |lane: usize| trace.lanes.get(lane).map_or("", String::as_str);
    let step = |row: &Row| StepJson {
        action: format!("{}: {}", lane(row.lane), row.action),
        changes: row.changes.iter().map(|change| format!("{}: {change}", lane(change.lane))).collect(),
    };
    trace.rows.iter().map(step).collect()
}

/// A value the way `--set` takes it.
fn flow(value: &Value) -> String {
    let joined = |items: Vec<String>| items.join(", ");
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", joined(items.iter().map(flow).collect())),
        Value::Object(map) => {
            format!("{{ {} }}", joined(map.iter().map(|(name, value)| format!("{name}: {}", flow(value))).collect()))
        }
        plain => plain.to_string(),
    }
}

fn write_human(
    out: &mut impl Write,
    space: Space,
    without: &[String],
    exploration: &Exploration,
) -> Result<(), Failure> {
    let Exploration { bounds, complete, distinct_states, depth, properties, .. } = exploration;
    let without = if without.is_empty() { String::new() } else { format!(" without {}", without.join(" and ")) };
    writeln!(out, "{}{without}", space.name())?;
    let bounds = bounds.as_object().into_iter().flatten();
    let (groups, plain): (Vec<_>, Vec<_>) = bounds.partition(|(_, value)| value.get(0).is_some_and(Value::is_object));
    let plain = plain.into_iter().map(|(name, value)| format!("{name} {}", flow(value)));
    writeln!(out, "  bounds: {}", plain.collect::<Vec<_>>().join(", "))?;
    for (name, elements) in groups {
        writeln!(out, "  {name}:")?;
        for element in elements.as_array().into_iter().flatten() {
            writeln!(out, "    {}", flow(element))?;
        }
    }
    let complete = if *complete { "complete: every reachable state was looked at" } else { "bounded, not complete" };
    writeln!(out, "  {distinct_states} distinct states, {depth} actions deep; {complete}\n")?;
    for property in properties {
        let style = if property.verdict == Verdict::Holds { super::GOOD } else { super::BAD };
        writeln!(out, "{style}{:9}{style:#}  {}", property.verdict.word(), property.claim())?;
        let evidence = property.evidence();
        for line in evidence.iter().flat_map(|text| text.lines()) {
            writeln!(out, "{}", format!("           {line}").trim_end())?;
        }
        if property.trace.is_some() {
            writeln!(out)?;
        }
    }
    let [holds, fails, undecided] =
        [Verdict::Holds, Verdict::Fails, Verdict::Undecided].map(|verdict| exploration.with(verdict).count());
    Ok(writeln!(out, "{holds} properties hold, {fails} fail, {undecided} undecided")?)
}
