//! Preprocesses a candidate into the one text that is screened and compiled.

use std::path::Path;

use hotloop_flow::language::c;
use hotloop_flow::{BenchError, Verdict};

use crate::compiling::confined::{OWN_BYTES, PREPROCESSED_BYTES, Run, read_start};
use crate::cpu::compile::Builder;
use crate::cpu::compile::headers::Lines;
use crate::cpu::compile::prelude::LOADS;
use crate::scratch::no_space;

/// The file name in line markers of the candidate's own text.
pub(super) const SOURCE: &str = "candidate.c";

/// What the preprocessor made of a candidate.
pub(super) struct Preprocessed {
    /// The whole text, which is compiled unchanged.
    pub(super) text: String,
    /// The candidate's own part, which is screened. It includes text that the candidate's macros
    /// put into a header.
    pub(super) own: String,
}

impl Builder {
    /// Preprocesses a candidate, or returns the verdict if that fails.
    pub(super) fn preprocess(
        &self,
        source: &str,
        user: Option<u32>,
    ) -> Result<Result<Preprocessed, Verdict>, BenchError> {
        let loading = self.prelude.loading();
        let plain = self
            .macros
            .as_ref()
            .and_then(|macros| macros.preprocessed(source));
        let text = match plain {
            Some(plain) => {
                let loading = loading.as_deref().unwrap_or_default();
                format!("# 0 \"{SOURCE}\"\n# 0 \"<prelude>\"\n{loading}\n# 1 \"{SOURCE}\"\n{plain}")
            }
            None => match self.preprocess_all(source, user)? {
                Ok(text) => text,
                Err(verdict) => return Ok(Err(verdict)),
            },
        };
        // Nobody has screened what the candidate's own pragma would load.
        if text.matches(LOADS).count() > usize::from(loading.is_some()) {
            let why = format!("`{LOADS}` is prohibited");
            return Ok(Err(Verdict::Refused { why }));
        }
        let loads = |line: &str| loading.as_deref() == Some(line.trim_end());
        let mut has_headers = false;
        let own = c::own_text(&text, SOURCE, |line| {
            has_headers |= !loads(line);
            true
        });
        let own = if has_headers {
            let alone = c::headers_alone(&c::lex::lex(source));
            let known = match self.header_lines(alone, user)? {
                Ok(known) => known,
                Err(verdict) => return Ok(Err(verdict)),
            };
            c::own_text(&text, SOURCE, |line| {
                // The screen knows the vectors of this machine's headers by name, and no others.
                loads(line) || self.headers.is_among(&known, line) && !c::hides_vectors(line)
            })
        } else {
            own
        };
        if own.len() > OWN_BYTES {
            let why = format!(
                "its macros expand to {} bytes, and at most {OWN_BYTES} are read",
                own.len()
            );
            return Ok(Err(Verdict::Refused { why }));
        }
        Ok(Ok(Preprocessed { text, own }))
    }

    /// The lines that the preprocessor produces for the headers alone.
    fn header_lines(
        &self,
        source: String,
        user: Option<u32>,
    ) -> Result<Result<Lines, Verdict>, BenchError> {
        if let Some(known) = self.headers.get(&source) {
            return Ok(Ok(known));
        }
        // Where they say nothing by themselves, all that they say is the candidate's.
        let text = match self.preprocess_all(&source, user)? {
            Ok(text) => text,
            Err(Verdict::NotCompiled { .. }) => String::new(),
            Err(verdict) => return Ok(Err(verdict)),
        };
        Ok(Ok(self.headers.remember(source, &text)))
    }

    fn preprocess_all(
        &self,
        source: &str,
        user: Option<u32>,
    ) -> Result<Result<String, Verdict>, BenchError> {
        let folder = self.compiler.scratch.folder(user)?;
        fs_err::write(folder.path().join(SOURCE), source).map_err(|error| no_space(&error))?;
        let mut arguments = self.flags();
        arguments.extend(self.prelude.preprocessing());
        arguments.push(SOURCE.to_owned());
        let run = Run {
            folder: &folder,
            arguments: &arguments,
            user,
            extra: Path::new("/dev/null"),
            file_bytes: PREPROCESSED_BYTES,
        };
        let ended = self.compiler.run(run)?;
        Ok(ended.map(|printed| read_start(printed, PREPROCESSED_BYTES)))
    }
}
