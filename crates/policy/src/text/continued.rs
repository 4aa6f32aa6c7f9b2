//! Continued texts, for tokenizers that begin every text with a space.
//!
//! `SentencePiece` adds this space and removes it in decoding. That is right for whole texts. It is
//! wrong for the beginning of an answer, which follows a prompt, and for its continuation, which
//! may really begin with spaces.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokenizers::Tokenizer;

/// The tokenizer for continued texts; `None` if it is the same as for whole texts.
pub(super) fn tokenizer(whole: &Tokenizer) -> tokenizers::Result<Option<Tokenizer>> {
    let (normalizer, before) = without(whole.get_normalizer())?;
    let (pre_tokenizer, splitting) = without(whole.get_pre_tokenizer())?;
    let (decoder, after) = without(whole.get_decoder())?;
    if !(before || splitting || after) {
        return Ok(None);
    }
    let mut continued = whole.clone();
    continued.with_normalizer(normalizer)?;
    continued.with_pre_tokenizer(pre_tokenizer);
    continued.with_decoder(decoder);
    Ok(Some(continued))
}

/// A part of a tokenizer without the rules that add or remove a leading space, and whether there
/// were any.
fn without<T: Serialize + DeserializeOwned>(
    part: Option<&T>,
) -> tokenizers::Result<(Option<T>, bool)> {
    let mut part = serde_json::to_value(part)?;
    let changed = leave_spaces(&mut part);
    Ok((serde_json::from_value(part)?, changed))
}

fn leave_spaces(part: &mut Value) -> bool {
    match part["type"].as_str() {
        Some("Sequence") => {
            let mut changed = false;
            for list in ["normalizers", "pretokenizers", "decoders"] {
                let Some(Value::Array(parts)) = part.get_mut(list) else {
                    continue;
                };
                for part in &mut *parts {
                    changed |= leave_spaces(part);
                }
                parts.retain(|part| !part.is_null());
            }
            changed
        }
        Some("Prepend") => {
            *part = Value::Null;
            true
        }
        Some("Metaspace") => {
            let puts = part["prepend_scheme"] != "never";
            part["prepend_scheme"] = "never".into();
            puts
        }
        Some("Strip") if part["content"] == " " && part["start"] != 0 => {
            part["start"] = 0.into();
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Text, Turn};
    use super::*;

    const TEMPLATE: &str = "{% for m in messages %}{% if m.role == 'user' %}<s>[{{ m.content }}]\
                            {% else %} {{ m.content }}</s>{% endif %}{% endfor %}";

    /// Letters, spaces and bytes with some merges, as in Llama 2.
    fn sentence_piece(parts: &Value) -> Text {
        let mut tokens: Vec<String> = ["<unk>", "<s>", "</s>"].map(str::to_owned).into();
        tokens.extend((0..=255).map(|byte| format!("<0x{byte:02X}>")));
        tokens.extend(
            [
                "▁", "i", "n", "t", "x", "[", "]", "▁▁", "in", "int", "▁int", "▁x",
            ]
            .map(str::to_owned),
        );
        let vocab: serde_json::Map<String, Value> = tokens
            .into_iter()
            .zip(0..)
            .map(|(t, n)| (t, json!(n)))
            .collect();
        let special = |id: u32, content: &str| {
            json!({"id": id, "content": content, "single_word": false, "lstrip": false, "rstrip": false,
                   "normalized": false, "special": true})
        };
        let mut json = json!({
            "version": "1.0", "truncation": null, "padding": null,
            "added_tokens": [special(0, "<unk>"), special(1, "<s>"), special(2, "</s>")],
            "post_processor": null,
            "model": {
                "type": "BPE", "dropout": null, "unk_token": "<unk>", "continuing_subword_prefix": null,
                "end_of_word_suffix": null, "fuse_unk": true, "byte_fallback": true, "ignore_merges": false,
                "vocab": vocab, "merges": ["▁ ▁", "i n", "in t", "▁ int", "▁ x"],
            },
        });
        for (name, part) in parts.as_object().unwrap() {
            json[name] = part.clone();
        }
        Text::new(json.to_string(), TEMPLATE.into(), "</s>".into()).unwrap()
    }

    /// The rules in the form of older and newer files.
    fn both() -> [Text; 2] {
        let replace = |from: &str, to: &str| json!({"type": "Replace", "pattern": {"String": from}, "content": to});
        let strip = json!({"type": "Strip", "content": " ", "start": 1, "stop": 0});
        let bytes = json!([replace("▁", " "), {"type": "ByteFallback"}, {"type": "Fuse"}, strip]);
        let prepend = json!({"type": "Prepend", "prepend": "▁"});
        let metaspace = json!({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": false});
        [
            sentence_piece(&json!({
                "normalizer": {"type": "Sequence", "normalizers": [prepend, replace(" ", "▁")]},
                "pre_tokenizer": null,
                "decoder": {"type": "Sequence", "decoders": bytes},
            })),
            sentence_piece(
                &json!({"normalizer": null, "pre_tokenizer": metaspace, "decoder": metaspace}),
            ),
        ]
    }

    fn turn(role: &'static str, content: &str) -> Turn {
        Turn {
            role,
            content: content.into(),
        }
    }

    #[test]
    fn a_begun_answer_follows_its_prompt_without_a_space() {
        for text in both() {
            let asked = [turn("user", "x")];
            let open = text.prompt(&asked, "").unwrap();
            for begun in ["int", " int", "   int x"] {
                let prompt = text.prompt(&asked, begun).unwrap();
                assert_eq!(text.decode(&prompt[open.len()..]), begun, "{prompt:?}");
            }
            let begun = text.prompt(&asked, "int").unwrap();
            assert_eq!(
                begun[open.len()..],
                [text.token("int")],
                "one token, as it stands in a text"
            );
        }
    }

    #[test]
    fn a_continuation_keeps_its_first_space() {
        for text in both() {
            let decode = |tokens: &[&str]| {
                text.decode(&tokens.iter().map(|t| text.token(t)).collect::<Vec<_>>())
            };
            assert_eq!(decode(&["▁x", "▁int"]), " x int");
            assert_eq!(decode(&["x", "▁int"]), "x int");
            assert_eq!(decode(&["▁▁", "▁x"]), "   x");
            assert_eq!(
                (text.opening(" x"), text.opening("x")),
                ("x", "x"),
                "that of a whole answer is the tokenizer's"
            );
        }
    }

    #[test]
    fn examples_are_the_whole_text_in_pieces() {
        let turns = [
            turn("user", "x"),
            turn("assistant", "int x"),
            turn("user", "int"),
            turn("assistant", "x"),
        ];
        for text in both() {
            let (tokens, scored) = text.example(&turns).unwrap();
            assert_eq!(tokens, text.encode("<s>[x] int x</s><s>[int] x</s>"));
            let answers: Vec<u32> = tokens
                .iter()
                .zip(scored)
                .filter(|(_, scored)| *scored)
                .map(|(t, _)| *t)
                .collect();
            let end = text.token("</s>");
            assert_eq!(
                answers,
                [
                    text.token("▁int"),
                    text.token("▁x"),
                    end,
                    text.token("▁x"),
                    end
                ]
            );
        }
    }

    #[test]
    fn tokenizers_without_a_leading_space_need_no_second_one() {
        let bytes = json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": true});
        let decoder = json!({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": true});
        let text = sentence_piece(
            &json!({"normalizer": null, "pre_tokenizer": bytes, "decoder": decoder}),
        );
        assert!(text.continued.is_none());
        assert_eq!(text.opening(" x"), " x");
    }
}
