"""The operations TorchScript may use.

Those that compute, by name. No file, no process, no other library.

The names stand in the code of the file (``torch.conv2d``, ``ops.prim.RaiseException``) and, with
their overloads, in the graphs torch makes of it. Both are checked against these lists.
"""

from __future__ import annotations

from robgui.core.loading.exported.operations import NAMES

#: Kernels that exports name directly but that TorchScript would call unchecked.
_INNER = """
native_batch_norm.default _native_batch_norm_legit.default
_native_batch_norm_legit_functional.default _native_batch_norm_legit.no_stats
_native_batch_norm_legit_no_training.default _scaled_dot_product_flash_attention_for_cpu.default
copy.default
"""
#: What TorchScript writes besides the operations of exports.
_MORE = """
_convolution.default _convolution.deprecated lstm.data gru.data rnn_tanh.data rnn_relu.data
_native_multi_head_attention.default _transformer_encoder_layer_fwd.default
_nested_tensor_from_mask.default _nested_tensor_from_mask_left_aligned.default
to_padded_tensor.default _upsample_bicubic2d_aa.vec _upsample_bilinear2d_aa.vec
_upsample_lanczos2d_aa.vec _upsample_nearest_exact1d.vec _upsample_nearest_exact2d.vec
_upsample_nearest_exact3d.vec unsafe_chunk.default unsafe_split.Tensor split.default numpy_T.default
mT.default hardtanh_.default floor_.default round_.default ceil_.default sign_.default
square_.default rsqrt_.default reciprocal_.default pow_.Scalar pow_.Tensor clamp_min_.default
clamp_max_.default logical_not_.default softplus.default squeeze_.default squeeze_.dim
unsqueeze_.default threshold.default threshold_.default bernoulli_.float bernoulli.default
bernoulli.p uniform_.default normal_.default empty.memory_format empty_like.default
new_empty.default index.Tensor_hacked_twin index_put.hacked_twin index_put_.hacked_twin
__and__.Tensor __or__.Tensor __xor__.Tensor __and__.Scalar __or__.Scalar size.default size.int
dim.default numel.default is_floating_point.default is_complex.default item.default Int.Tensor
Float.Tensor Bool.Tensor IntImplicit.default FloatImplicit.default ScalarImplicit.default
tensor.default tensor.float tensor.int tensor.bool as_tensor.default as_tensor.float as_tensor.int
as_tensor.bool as_tensor.list to.prim_Device to.prim_dtype to.prim_other copy_.Tensor copy_.int
copy_.float eq.Tensor ne.Tensor stride.default stride.int is_nonzero.default equal.default
allclose.default cumsum_.default log_.default log2_.default expm1_.default argsort.default
"""
#: Arithmetic, texts and lists; if such a name also has a tensor overload, ``TENSORS`` decides on
#: that.
_PLAIN = """
Bool Float Int __and__ __contains__ __derive_index __getitem__ __is__ __isnot__ __not__ __or__
__range_length __round_to_zero_floordiv __xor__ _infer_size _set_item _unwrap_optional abs add add_
all any append broadcast_shapes ceil clear copy count device dict div divmod endswith eq exp extend
find floor floordiv fmod format ge get get_autocast_dtype gt has_torch_function index insert
is_autocast_cpu_enabled is_autocast_enabled is_grad_enabled is_scripting _get_tracing_state isfinite
isinf isnan items join keys le len list log log10 log1p log2 lower lt max min mul mul_ ne neg
percentFormat pop pow remainder remove replace reverse round select set_grad_enabled slice sort
sorted split sqrt startswith str strip sub sum tanh update upper values warn
"""
#: Every overload of these only moves things between containers, tensors included.
_CONTAINERS = """
__contains__ __getitem__ __is__ __isnot__ _set_item _unwrap_optional append clear count dict extend
format get has_torch_function insert items keys len list pop remove reverse update values warn
"""
#: What may follow ``ops.prim.``: questions to a tensor, and the end of a wrong path.
_QUESTIONS = """
NumToTensor RaiseException abs data device dtype is_cpu is_cuda is_mps is_mkldnn is_nested
is_quantized is_sparse is_meta is_xla itemsize layout max min rangelist requires_grad type
"""
#: What torch makes of the syntax: constants, attributes, calls, branches, loops, tuples, lists.
_STRUCTURE = """
CallFunction CallMethod Constant CreateObject DictConstruct Enter Exit GetAttr If ListConstruct
ListUnpack Loop SetAttr StringIndex TupleConstruct TupleIndex TupleSlice TupleUnpack Uninitialized
isinstance unchecked_cast ConstantChunk
"""
#: Overloads that compute on tensors, as ``name.overload``.
TENSORS = frozenset({*NAMES, *_MORE.split()}.difference(_INNER.split()))
#: Names that may follow ``torch.`` in the code.
ATEN = frozenset({*_PLAIN.split(), *(name.partition(".")[0] for name in TENSORS)})
#: Names that may follow ``ops.prim.`` in the code.
PRIM = frozenset(_QUESTIONS.split())
#: Sequences of different lengths: every recurrent layer has code for them, which a classifier of
#: one shape never reaches.
UNSAFE = frozenset(
    {"aten::lstm.data", "aten::gru.data", "aten::rnn_tanh.data", "aten::rnn_relu.data"}
)
_PLAIN_NAMES, _CONTAINER_NAMES = frozenset(_PLAIN.split()), frozenset(_CONTAINERS.split())
_NODES = PRIM.union(_STRUCTURE.split())


def is_known(kind: str, schema: str) -> bool:
    """Whether a graph node only computes.

    ``schema`` is that of its operator, as torch writes it.
    """
    library, _, name = kind.partition("::")
    if library == "prim":
        return name in _NODES
    if library != "aten":
        return False
    signature, _, arguments = schema.partition("(")
    _, _, overload = signature.partition(".")
    if f"{name}.{overload or 'default'}" in TENSORS:
        return True
    return name in _CONTAINER_NAMES or (
        name in _PLAIN_NAMES and signature.startswith("aten::") and "Tensor" not in arguments
    )
