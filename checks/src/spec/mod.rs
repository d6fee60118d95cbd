//! What is claimed: the files in `spec/`, read and checked.

pub mod assumptions;
pub mod lesson;
pub mod state_spaces;
pub mod yaml;

use assumptions::Assumptions;
use lesson::LessonSpec;
use models::catalogue::{self, Entry};
use state_spaces::StateSpaces;
use std::path::{Path, PathBuf};
use yaml::YamlError;

/// Everything in a `spec/` folder.
#[derive(Debug)]
pub struct Spec {
    /// The named assumptions of both courses.
    pub assumptions: Assumptions,
    /// The specified lessons, in course order.
    pub lessons: Vec<LessonSpec>,
    /// The state spaces.
    pub state_spaces: StateSpaces,
}

impl Spec {
    /// Reads a `spec/` folder: `assumptions.yaml`, `state-spaces.yaml` and a file for each lesson that has a model.
    ///
    /// # Errors
    /// A file that is missing, unreadable or wrong, one that belongs to no lesson, or one without a model.
    pub fn load(folder: &Path) -> Result<Self, YamlError> {
        let assumptions = Assumptions::load(&folder.join("assumptions.yaml"))?;
        let lessons = catalogue::ENTRIES
            .iter()
            .filter(|entry| entry.model.is_some())
            .map(|entry| LessonSpec::load(&folder.join(file_of(entry)), entry))
            .collect::<Result<_, _>>()?;
        refuse_strangers(folder)?;
        let state_spaces = StateSpaces::load(&folder.join("state-spaces.yaml"))?;
        Ok(Self { assumptions, lessons, state_spaces })
    }

    /// The spec of a lesson, if it has one.
    pub fn lesson(&self, slug: &str) -> Option<&LessonSpec> {
        self.lessons.iter().find(|lesson| lesson.entry.slug == slug)
    }
}

/// Where a lesson's spec stands, below `spec/`.
pub fn file_of(entry: &Entry) -> PathBuf {
    Path::new(entry.course.slug()).join(format!("{:02}-{}.yaml", entry.number, entry.slug))
}

/// A file in a course's folder that no modelled lesson owns would be silently unread.
fn refuse_strangers(folder: &Path) -> Result<(), YamlError> {
    let known: Vec<PathBuf> = catalogue::ENTRIES.iter().filter(|e| e.model.is_some()).map(file_of).collect();
    for course in catalogue::Course::ALL {
        let Ok(files) = std::fs::read_dir(folder.join(course.slug())) else { continue };
        let mut names: Vec<_> = files.filter_map(|file| Some(file.ok()?.file_name())).collect();
        names.sort();
        for name in names {
            let file = Path::new(course.slug()).join(&name);
            if !known.contains(&file) && file.extension().is_some_and(|ext| ext == "yaml" || ext == "yml") {
                let message = "no modelled lesson has this file name, expected NN-SLUG.yaml".to_owned();
                return Err(YamlError { path: folder.join(file), place: None, message });
            }
        }
    }
    Ok(())
}
