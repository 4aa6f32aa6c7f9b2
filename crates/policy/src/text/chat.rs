//! Chat templates: Jinja programs that come with models.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind, context};

/// A message of a chat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// `system`, `user` or `assistant`.
    pub role: &'static str,
    /// What is said.
    pub content: String,
}

/// Why a chat could not be rendered.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// The model has no template.
    #[error(
        "the model has no chat template: add `chat_template` to its tokenizer_config.json, or use \
         an instruct model"
    )]
    None,
    /// The template refuses or is broken.
    #[error("the chat template failed: {0}")]
    Failed(#[from] Error),
    /// The tokens of the answer cannot be separated.
    #[error(
        "the chat template writes the turns before answer {0} differently once the answer is \
         there: its tokens cannot be separated"
    )]
    Unstable(usize),
}

/// A compiled template.
pub struct ChatTemplate {
    environment: Environment<'static>,
    source: String,
}

impl ChatTemplate {
    /// Compiles a template with the functions that transformers provides.
    pub fn new(source: String) -> Result<Self, Error> {
        let mut environment = Environment::new();
        environment.set_syntax(
            SyntaxConfig::builder()
                .trim_blocks(true)
                .lstrip_blocks(true)
                .build()?,
        );
        environment
            .set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function(
            "raise_exception",
            |message: String| -> Result<String, Error> {
                Err(Error::new(ErrorKind::InvalidOperation, message))
            },
        );
        environment.add_filter("tojson", |value: Value| -> Result<Value, Error> {
            // The built-in filter escapes for HTML, but models were trained on plain JSON.
            let text = serde_json::to_string(&value);
            let text =
                text.map_err(|error| Error::new(ErrorKind::InvalidOperation, error.to_string()))?;
            Ok(Value::from_safe_string(text))
        });
        environment.add_template_owned("chat", source.clone())?;
        Ok(Self {
            environment,
            source,
        })
    }

    /// The template's own text.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Renders a chat. With `ask` it ends where the next answer begins.
    pub fn render(
        &self,
        turns: &[Turn],
        ask: bool,
        bos: Option<&str>,
        eos: Option<&str>,
    ) -> Result<String, TemplateError> {
        let turn = |turn: &Turn| context! { role => turn.role, content => turn.content.as_str() };
        let known = context! {
            messages => turns.iter().map(turn).collect::<Vec<_>>(),
            add_generation_prompt => ask,
            bos_token => bos.unwrap_or_default(),
            eos_token => eos.unwrap_or_default(),
        };
        Ok(self.environment.get_template("chat")?.render(known)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(role: &'static str, content: &str) -> Turn {
        Turn {
            role,
            content: content.into(),
        }
    }

    #[test]
    fn templates_use_python_methods_and_may_refuse() {
        let source = "{%- if messages[0].role != 'user' %}{{ raise_exception('user first') }}{%- endif %}\
                      {% for m in messages %}{{ m.role.upper() }}: {{ m['content'].strip() }}{{ eos_token }}\n{% endfor %}\
                      {% if add_generation_prompt %}A:{% endif %}";
        let template = ChatTemplate::new(source.into()).unwrap();
        let text = template
            .render(&[turn("user", " hi <b> ")], true, None, Some("</s>"))
            .unwrap();
        assert_eq!(text, "USER: hi <b></s>\nA:");
        let refused = template
            .render(&[turn("system", "x")], true, None, None)
            .unwrap_err();
        assert!(refused.to_string().contains("user first"), "{refused}");
    }
}
