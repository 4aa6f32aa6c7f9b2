"""TRL's GRPOTrainer trains a tiny random model on the CPU with the reward of the bench."""

import pytest

pytest.importorskip("trl")
torch = pytest.importorskip("torch")

from datasets import Dataset  # noqa: E402
from tokenizers import Tokenizer, decoders, models, pre_tokenizers  # noqa: E402
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM  # noqa: E402
from trl import GRPOConfig, GRPOTrainer  # noqa: E402

CHAT = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"


def tiny():
    """A model and a tokenizer of bytes, made here: nothing is downloaded."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: index for index, letter in enumerate(["<eos>", *letters])}
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<eos>", pad_token="<eos>")
    fast.chat_template = CHAT
    torch.manual_seed(1)
    config = Qwen2Config(
        vocab_size=len(vocabulary), hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=2, max_position_embeddings=4096, bos_token_id=0, eos_token_id=0, pad_token_id=0,
    )
    return Qwen2ForCausalLM(config), fast


def test_five_steps(service, tmp_path):
    from hotloop import Client
    from hotloop.trl import prompts, reward

    rows = prompts("trl", "matmul")
    data = Dataset.from_list([next(rows) for _ in range(4)])
    model, tokenizer = tiny()
    arguments = GRPOConfig(
        output_dir=str(tmp_path), max_steps=5, num_generations=2, per_device_train_batch_size=2, max_completion_length=16,
        logging_steps=1, report_to=[], use_cpu=True, save_strategy="no", bf16=False, learning_rate=1e-3,
    )
    trainer = GRPOTrainer(
        model=model, processing_class=tokenizer, reward_funcs=[reward("matmul")], args=arguments, train_dataset=data
    )
    trainer.train()
    assert trainer.state.global_step == 5
    logged = [entry["rewards/hotloop/mean"] for entry in trainer.state.log_history if "rewards/hotloop/mean" in entry]
    # A random model writes no C: every answer is malformed, and that is a verdict with a reward.
    assert logged and all(value == -4.0 for value in logged), logged
    run = Client().request("/v1/runs")
    told = next(one for one in run if one["name"] == "trl")
    assert told["steps"] >= 5 and told["model"] == "foreign-trainer"
