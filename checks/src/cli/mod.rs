//! The command `coursecheck`: what it is called with, what it writes, how it ends.
//!
//! Results go to standard output, progress and diagnostics to standard error.

mod check;
mod explain;
mod explore;
mod lessons;
mod parameters;
mod run;
mod seeds;
mod verify;

use crate::invariants::{self, Budget, Checked, Stated};
use crate::spec::Spec;
use crate::spec::lesson::LessonSpec;
use crate::suite::{Error, Suite};
use crate::verified::Verified;
use anstyle::{AnsiColor, Style};
use clap::{Args, Parser, Subcommand, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use serde::Serialize;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

/// Checks whether two courses about resilient services tell the truth.
///
/// Without a subcommand: verifies everything that is in the spec, one line a lesson and a total.
#[derive(Parser)]
#[command(name = "coursecheck", version, after_help = AFTER_HELP, arg_required_else_help = false)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    verify: verify::Arguments,
    #[command(flatten)]
    common: Common,
}

const AFTER_HELP: &str = "\
Examples:
  coursecheck                                        verify everything in the spec
  coursecheck check course.md                        what in this file disagrees, and where?
  coursecheck run circuit-breaker --set slots=8      the lesson's figures with a smaller pool
  coursecheck run circuit-breaker --set AY2.slots=8  the same for every lesson that uses the assumption
  coursecheck explain circuit-breaker#12             one claim: formula, inputs, verdict

Exit status:
  0  everything asked for was checked and holds
  1  at least one thing does not hold
  2  the call or its input is unusable, or nothing at all was checked";

/// What every subcommand takes.
#[derive(Args)]
struct Common {
    /// For people, or for programs.
    #[arg(long, global = true, value_enum, default_value_t = Format::Human)]
    format: Format,
    /// The folder with the claims [default: the nearest spec/ upwards from here, else the one built from].
    #[arg(long, global = true, value_name = "DIR")]
    spec: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    Human,
    Json,
}

#[derive(Subcommand)]
enum Command {
    /// Checks course files or lesson pages: every numeral against its figure, with line and column.
    Check(check::Arguments),
    /// Runs one lesson's model, any parameter changed, and prints its blocks.
    Run(run::Arguments),
    /// Shows a lesson's parameters: value, unit, range and origin.
    Parameters(parameters::Arguments),
    /// Lists the lessons of both courses, and how much of each is covered.
    Lessons,
    /// Shows a lesson's claims and invariants, or one of them: statement, formula, inputs or ranges, verdict.
    Explain(explain::Arguments),
    /// Explores every order of events of a mechanism; shows how what does not hold comes about.
    Explore(explore::Arguments),
    /// Looks at a lesson's statements over many seeds: for which share each holds, and where the published value lies.
    Seeds(seeds::Arguments),
}

/// How a command ended, when it could do what it was asked.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// Everything holds.
    Holds,
    /// At least one thing does not.
    Fails,
    /// Nothing was checked, or not all of the input could be.
    NothingChecked,
}

/// How good news looks on a terminal.
const GOOD: Style = AnsiColor::Green.on_default();
/// How bad news looks on a terminal.
const BAD: Style = AnsiColor::Red.on_default().bold();

/// Runs the command line.
pub fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut out = Reader { inner: anstream::AutoStream::auto(std::io::stdout()), gone: false };
    match dispatch(cli, &mut out).and_then(|outcome| Ok(out.flush().map(|()| outcome)?)) {
        Ok(Outcome::Holds) => ExitCode::SUCCESS,
        Ok(Outcome::Fails) => ExitCode::from(1),
        Ok(Outcome::NothingChecked) => ExitCode::from(2),
        Err(failure) => {
            complain(&failure);
            ExitCode::from(2)
        }
    }
}

/// Says on standard error what went wrong; where that is closed, the exit status still says that something did.
fn complain(message: &(impl std::fmt::Display + ?Sized)) {
    let _ = writeln!(anstream::stderr(), "coursecheck: {message}");
}

/// Whoever reads the result. That nobody reads on (`| head`) is the reader's choice: the work, and with it the exit
/// status, is finished all the same.
struct Reader<W> {
    inner: W,
    gone: bool,
}

impl<W: Write> Write for Reader<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.gone {
            return Ok(bytes.len());
        }
        match self.inner.write(bytes) {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => {
                self.gone = true;
                Ok(bytes.len())
            }
            written => written,
        }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        match self.inner.flush() {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
            flushed => flushed,
        }
    }
}

fn dispatch(cli: Cli, out: &mut impl Write) -> Result<Outcome, Failure> {
    let Cli { command, verify, common } = cli;
    if command.is_some() && verify.is_given() {
        let message =
            "--only, --lesson, --cases and --seed belong to the verification of everything, without a subcommand";
        return Err(Error::Call(message.to_owned()).into());
    }
    let folder = spec_folder(common.spec.as_deref());
    let suite = Arc::new(Suite::new(Spec::load(&folder).map_err(Error::from)?));
    let format = common.format;
    match command {
        Some(Command::Check(arguments)) => check::run(&suite, &arguments, format, out),
        Some(Command::Run(arguments)) => run::run(&suite, &arguments, format, out),
        Some(Command::Parameters(arguments)) => parameters::run(&suite, &arguments, format, out),
        Some(Command::Lessons) => lessons::run(&suite, format, out),
        Some(Command::Explain(arguments)) => explain::run(&suite, &arguments, format, out),
        Some(Command::Explore(arguments)) => explore::run(&suite, &arguments, format, out),
        Some(Command::Seeds(arguments)) => seeds::run(&suite, &arguments, format, out),
        None => verify::run(&suite, &verify, &folder.with_file_name("snapshots"), format, out),
    }
}

/// Runs and judges lessons, in parallel; the result is in their order all the same.
fn verify_all<'a>(suite: &'a Arc<Suite>, lessons: &[&'a LessonSpec]) -> Result<Vec<Verified<'a>>, Failure> {
    let bar = ProgressBar::new(lessons.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} lessons {msg}") {
        bar.set_style(style);
    }
    let verified = lessons.par_iter().map(|lesson| {
        let verified = Verified::new(suite, lesson.entry.slug);
        bar.inc(1);
        verified
    });
    let verified = verified.collect::<Vec<_>>();
    bar.finish_and_clear();
    Ok(verified.into_iter().collect::<Result<_, _>>()?)
}

/// Checks every invariant of lessons, in parallel; lessons and invariants come in order all the same.
fn check_invariants(suite: &Suite, lessons: &[&LessonSpec], budget: Budget) -> Result<Vec<Vec<Checked>>, Failure> {
    let lessons = lessons.iter().map(|lesson| invariants::stated(suite, lesson));
    let lessons = lessons.collect::<Result<Vec<_>, _>>()?;
    let bar = ProgressBar::new(lessons.iter().map(Vec::len).sum::<usize>() as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} invariants") {
        bar.set_style(style);
    }
    let check = |stated: &Stated<'_>| {
        let checked = stated.check(suite, budget);
        bar.inc(1);
        checked
    };
    let checked: Vec<Result<Vec<_>, Error>> = lessons
        .par_iter()
        .map(|lesson| lesson.par_iter().map(check).collect::<Vec<_>>().into_iter().collect())
        .collect();
    bar.finish_and_clear();
    Ok(checked.into_iter().collect::<Result<_, _>>()?)
}

/// The folder asked for; else the nearest `spec/` upwards from here; else that of the sources this was built from.
fn spec_folder(asked: Option<&Path>) -> PathBuf {
    if let Some(folder) = asked {
        return folder.to_owned();
    }
    let is_spec = |folder: &PathBuf| folder.join("assumptions.yaml").is_file();
    let here = PathBuf::from("spec");
    if is_spec(&here) {
        return here;
    }
    let above = std::env::current_dir().unwrap_or_default();
    let near = above.ancestors().map(|folder| folder.join("spec")).find(is_spec);
    near.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("spec"))
}

/// Why a command could not do what it was asked.
#[derive(Debug)]
enum Failure {
    Unusable(Error),
    Output(std::io::Error),
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unusable(error) => error.fmt(f),
            Self::Output(error) => write!(f, "cannot write the result: {error}"),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Unusable(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self::Output(error)
    }
}

fn write_json(out: &mut impl Write, value: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(std::io::Error::from)?;
    Ok(writeln!(out, "{text}")?)
}
