"""Embeddings by a model file on this machine: onnxruntime with MiniLM or its like (extra ``chatls[vectors]``)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from chatls_core.llm.embedding import MAX_CHARS
from chatls_core.llm.events import ModelError

_MAX_TOKENS = 256
_BATCH = 16


class LocalEmbedder:
    """A sentence-transformer as an ONNX file, with its ``tokenizer.json`` beside it: mean of the tokens' vectors.

    Nothing is downloaded. The model is loaded at the first text, on one thread, which leaves a core to the editor.
    """

    here = True

    def __init__(self, file: Path) -> None:
        """Raises :class:`ModelError` when one of the two files is missing."""
        self._file = file
        self._tokenizer_file = file.parent / "tokenizer.json"
        for needed in (self._file, self._tokenizer_file):
            if not needed.is_file():
                raise ModelError(
                    "no_provider", f"The embedding model's {needed.name} does not exist.", provider="local"
                )
        self._guard = threading.Lock()
        self._session: Any = None
        self._tokenizer: Any = None

    @property
    def name(self) -> str:
        return f"local:{self._file.stem}:{self._file.stat().st_size}"

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """See :class:`~chatls_core.llm.embedding.Embedder`; runs in a thread."""
        return await asyncio.to_thread(self._embed, [text[:MAX_CHARS] for text in texts])

    async def aclose(self) -> None:
        """Let go of the model."""
        with self._guard:
            self._session = self._tokenizer = None

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        try:
            with self._guard:
                self._load()
                return [v for start in range(0, len(texts), _BATCH) for v in self._run(texts[start : start + _BATCH])]
        except ModelError:
            raise
        except Exception as error:  # onnxruntime and tokenizers raise their own, and bare Exception
            raise ModelError("internal", f"The embedding model failed: {error}", provider="local") from error

    def _load(self) -> None:
        if self._session is not None:
            return
        import onnxruntime
        from tokenizers import Tokenizer

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        self._tokenizer = Tokenizer.from_file(str(self._tokenizer_file))
        self._tokenizer.enable_truncation(_MAX_TOKENS)
        self._tokenizer.enable_padding()
        self._session = onnxruntime.InferenceSession(str(self._file), options, providers=["CPUExecutionProvider"])

    def _run(self, texts: Sequence[str]) -> list[list[float]]:
        import numpy as np

        encoded = self._tokenizer.encode_batch(list(texts))
        mask = np.array([e.attention_mask for e in encoded], dtype=np.int64)
        known = {
            "input_ids": np.array([e.ids for e in encoded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.zeros_like(mask),
        }
        wanted = [i.name for i in self._session.get_inputs()]
        if strange := [name for name in wanted if name not in known]:
            raise ModelError(
                "internal",
                f"The embedding model {self._file.name} asks for {', '.join(strange)}, which no text has.",
                hint="Set chatls.embedding.model to a sentence-transformer exported as ONNX.",
                provider="local",
            )
        output = self._session.run(None, {name: known[name] for name in wanted})[0]
        if output.ndim == 3:
            weights = mask[..., None].astype(np.float32)
            output = (output * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1e-9)
        vectors: list[list[float]] = output.astype(np.float32).tolist()
        return vectors
