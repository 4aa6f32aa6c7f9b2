//! What the preprocessor makes of a candidate, without what its headers say.

use std::path::Path;

use hotloop_flow::language::c::{lex, scan};
use hotloop_flow::verdict::Phase;
use hotloop_flow::{BenchError, Verdict};

use crate::cpu::compile::Builder;
use crate::cpu::compile::confined::{Ended, PREPROCESSED_BYTES, Run, WALL_S, read_start};
use crate::cpu::compile::headers::Lines;
use crate::cpu::compile::prelude::SCREENED;
use crate::scratch::no_space;

impl Builder {
    /// What the preprocessor makes of a candidate and is the candidate's own, or its complaint. What its macros put
    /// into a header is its own too.
    pub(crate) fn preprocess(
        &self,
        source: &str,
        user: Option<u32>,
    ) -> Result<Result<String, Verdict>, BenchError> {
        let text = match self.preprocess_all(source, user)? {
            Ok(text) => text,
            Err(verdict) => return Ok(Err(verdict)),
        };
        let lexed = lex::lex(source);
        if !scan::may_change_headers(&lexed) {
            return Ok(Ok(scan::own_text(&text, "candidate.c", |_| true)));
        }
        Ok(self
            .header_lines(scan::headers_alone(&lexed), user)?
            .map(|known| {
                scan::own_text(&text, "candidate.c", |line| {
                    self.headers.is_among(&known, line)
                })
            }))
    }

    /// The lines that the preprocessor makes of nothing but headers.
    fn header_lines(
        &self,
        source: String,
        user: Option<u32>,
    ) -> Result<Result<Lines, Verdict>, BenchError> {
        if let Some(known) = self.headers.get(&source) {
            return Ok(Ok(known));
        }
        let text = self.preprocess_all(&source, user)?;
        Ok(text.map(|text| self.headers.remember(source, &text)))
    }

    fn preprocess_all(
        &self,
        source: &str,
        user: Option<u32>,
    ) -> Result<Result<String, Verdict>, BenchError> {
        let folder = self.compiler.scratch.folder(user)?;
        fs_err::write(folder.path().join("candidate.c"), source)
            .map_err(|error| no_space(&error))?;
        let mut arguments = self.flags();
        let headers = self.prelude.folder.join(SCREENED).display().to_string();
        arguments.extend(["-include".to_owned(), headers]);
        arguments.extend(["-E", "candidate.c"].map(String::from));
        let run = Run {
            folder: &folder,
            arguments: &arguments,
            user,
            extra: Path::new("/dev/null"),
            file_bytes: PREPROCESSED_BYTES,
        };
        match self.compiler.run(run)? {
            Ended::Fine(printed) => Ok(Ok(read_start(printed, PREPROCESSED_BYTES))),
            Ended::TimedOut => Ok(Err(Verdict::TimedOut {
                limit_s: WALL_S,
                during: Phase::Compile,
            })),
            Ended::Failed(diagnostics) => Ok(Err(Verdict::NotCompiled { diagnostics })),
        }
    }
}
