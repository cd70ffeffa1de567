"""The tiny model: Qwen3 with 4 layers, served with random weights, and a byte-level tokenizer.

Two kinds of files, both made of nothing but this module: config.json and the tokenizer's. The same text comes out
everywhere, so two engines that serve it can be compared.
"""
import itertools
import json
import string

VOCABULARY = 2048
NAME = "tiny"  # as the engines serve it
CONFIG = {
    "architectures": ["Qwen3ForCausalLM"], "model_type": "qwen3", "vocab_size": VOCABULARY,
    "hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 4,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 64,
    "max_position_embeddings": 4096, "rms_norm_eps": 1e-6, "hidden_act": "silu",
    "rope_theta": 10000.0, "attention_bias": False, "tie_word_embeddings": True,
    "initializer_range": 0.02, "bos_token_id": 0, "eos_token_id": 1, "dtype": "bfloat16",
}
SPECIAL = ("<bos>", "<eos>", "<unk>")
SPACE = "\u0120"  # how the byte-level alphabet writes a space


def byte_alphabet():
    """The character that stands for each byte: itself if printable, else one from U+0100 on (GPT-2's rule)."""
    printable = set(range(0x21, 0x7F)) | set(range(0xA1, 0xAD)) | set(range(0xAE, 0x100))
    others = itertools.count(0x100)
    return [chr(b) if b in printable else chr(next(others)) for b in range(256)]


def tokenizer():
    """tokenizer.json: the bytes, space with letter, pairs of letters, then pairs of pairs up to the vocabulary's size.

    A token may be part of a UTF-8 character, as in real ones: an engine holds such text back.
    """
    letters = string.ascii_lowercase
    pairs = [a + b for a in letters for b in letters]
    merges = [(SPACE, a) for a in letters] + [(p[0], p[1]) for p in pairs]
    words = list(SPECIAL) + byte_alphabet() + [a + b for a, b in merges]
    more = list(itertools.islice(itertools.product(pairs, pairs), VOCABULARY - len(words)))
    merges += more
    words += [a + b for a, b in more]
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    return {
        "version": "1.0", "truncation": None, "padding": None,
        "added_tokens": [{"id": i, "content": w, "single_word": False, "lstrip": False, "rstrip": False,
                          "normalized": False, "special": True} for i, w in enumerate(SPECIAL)],
        "normalizer": None, "pre_tokenizer": byte_level, "post_processor": None, "decoder": byte_level,
        "model": {"type": "BPE", "dropout": None, "unk_token": None, "continuing_subword_prefix": None,
                  "end_of_word_suffix": None, "fuse_unk": False, "byte_fallback": False,
                  "vocab": {w: i for i, w in enumerate(words)}, "merges": [f"{a} {b}" for a, b in merges]},
    }


def make_model(folder):
    """Write the model's files into `folder`, those that differ only; return the folder."""
    files = {
        "config.json": CONFIG,
        "tokenizer.json": tokenizer(),
        "tokenizer_config.json": {
            "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": SPECIAL[0], "eos_token": SPECIAL[1],
            "unk_token": SPECIAL[2], "model_max_length": 4096,
            "chat_template": "{% for m in messages %}{{ m['role'] }} {{ m['content'] }}\n{% endfor %}"},
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        text = json.dumps(content, indent=1) + "\n"
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    return folder
