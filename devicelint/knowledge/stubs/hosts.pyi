"""Libraries on the host: which calls read a tensor, or a list of tensors, as an array.

`Converts` needs the tensor on the CPU; `Keeps` takes it as it is, prints it, or takes none.
`Wraps` needs it there, too, and gives a tensor again: numpy's universal functions call `__array_wrap__`.
`Elements` needs on the CPU what is in a list. A tensor itself it asks to do the work, by a method of the same
name, which succeeds or fails alike on every device.
"""

class numpy:
    anything: Converts
    shape: Keeps
    size: Keeps
    ndim: Keeps
    isscalar: Keeps
    iterable: Keeps
    # Methods that take what numpy passes on
    nonzero: Elements
    squeeze: Elements
    swapaxes: Elements
    split: Elements
    array_split: Elements
    hsplit: Elements
    vsplit: Elements
    dsplit: Elements
    rollaxis: Elements
    real: Elements
    imag: Elements
    # Methods that do not, on any device
    all: Elements
    any: Elements
    amax: Elements
    amin: Elements
    flip: Elements
    max: Elements
    mean: Elements
    min: Elements
    moveaxis: Elements
    prod: Elements
    std: Elements
    sum: Elements
    var: Elements
    # Universal functions, and what is made of them
    abs: Wraps
    absolute: Wraps
    add: Wraps
    arccos: Wraps
    arccosh: Wraps
    arcsin: Wraps
    arcsinh: Wraps
    arctan: Wraps
    arctan2: Wraps
    arctanh: Wraps
    cbrt: Wraps
    ceil: Wraps
    conj: Wraps
    conjugate: Wraps
    copysign: Wraps
    cos: Wraps
    cosh: Wraps
    deg2rad: Wraps
    degrees: Wraps
    divide: Wraps
    equal: Wraps
    exp: Wraps
    exp2: Wraps
    expm1: Wraps
    fabs: Wraps
    float_power: Wraps
    floor: Wraps
    floor_divide: Wraps
    fmax: Wraps
    fmin: Wraps
    fmod: Wraps
    greater: Wraps
    greater_equal: Wraps
    heaviside: Wraps
    hypot: Wraps
    isfinite: Wraps
    isinf: Wraps
    isnan: Wraps
    less: Wraps
    less_equal: Wraps
    log: Wraps
    log10: Wraps
    log1p: Wraps
    log2: Wraps
    logaddexp: Wraps
    logaddexp2: Wraps
    logical_and: Wraps
    logical_not: Wraps
    logical_or: Wraps
    logical_xor: Wraps
    matmul: Wraps
    maximum: Wraps
    minimum: Wraps
    mod: Wraps
    multiply: Wraps
    negative: Wraps
    not_equal: Wraps
    positive: Wraps
    power: Wraps
    rad2deg: Wraps
    radians: Wraps
    reciprocal: Wraps
    remainder: Wraps
    rint: Wraps
    sign: Wraps
    signbit: Wraps
    sin: Wraps
    sinh: Wraps
    sqrt: Wraps
    square: Wraps
    subtract: Wraps
    tan: Wraps
    tanh: Wraps
    true_divide: Wraps
    trunc: Wraps
    clip: Wraps
    round: Wraps
    around: Wraps
    # Sizes, types and settings
    empty: Keeps
    ones: Keeps
    zeros: Keeps
    eye: Keeps
    identity: Keeps
    tri: Keeps
    tril_indices: Keeps
    triu_indices: Keeps
    diag_indices: Keeps
    indices: Keeps
    ndindex: Keeps
    broadcast_shapes: Keeps
    ndarray: Keeps
    dtype: Keeps
    finfo: Keeps
    iinfo: Keeps
    issubdtype: Keeps
    promote_types: Keeps
    can_cast: Keeps
    result_type: Keeps
    errstate: Keeps
    seterr: Keeps
    geterr: Keeps
    set_printoptions: Keeps
    get_printoptions: Keeps
    printoptions: Keeps
    load: Keeps
    loadtxt: Keeps
    genfromtxt: Keeps
    fromfile: Keeps
    fromstring: Keeps
    fromfunction: Keeps
    frombuffer: Keeps
    from_dlpack: Keeps
    memmap: Keeps
    vectorize: Keeps
    str_: Keeps

    class random:
        anything: Converts
        seed: Keeps
        get_state: Keeps
        set_state: Keeps
        default_rng: Keeps
        Generator: Keeps
        RandomState: Keeps
        SeedSequence: Keeps
        rand: Keeps
        randn: Keeps
        random: Keeps
        random_sample: Keeps
        ranf: Keeps
        sample: Keeps
        standard_normal: Keeps
        standard_exponential: Keeps
        standard_cauchy: Keeps
        bytes: Keeps

    class fft:
        anything: Converts
        fftfreq: Keeps
        rfftfreq: Keeps

    class testing:
        anything: Keeps
        assert_allclose: Converts
        assert_almost_equal: Converts
        assert_array_almost_equal: Converts
        assert_array_equal: Converts
        assert_array_less: Converts

class sklearn:
    anything: Converts
    clone: Keeps
    get_config: Keeps
    set_config: Keeps
    config_context: Keeps
    show_versions: Keeps

    class datasets:
        anything: Keeps
        dump_svmlight_file: Converts

    class model_selection:
        # Rows are taken with the tensor's own indexing, or from its length alone.
        anything: Converts
        train_test_split: Keeps
        KFold: Keeps
        StratifiedKFold: Keeps
        ParameterGrid: Keeps

    class utils:
        anything: Converts
        shuffle: Keeps
        resample: Keeps
        Bunch: Keeps

class scipy:
    anything: Converts

    class io:
        anything: Keeps
        savemat: Converts

    class optimize:
        anything: Keeps
        linear_sum_assignment: Converts

class matplotlib:
    anything: Keeps

    class pyplot:
        anything: Keeps
        plot: Converts
        scatter: Converts
        bar: Converts
        barh: Converts
        boxplot: Converts
        contour: Converts
        contourf: Converts
        errorbar: Converts
        fill_between: Converts
        hexbin: Converts
        hist: Converts
        hist2d: Converts
        hlines: Converts
        imsave: Converts
        imshow: Converts
        loglog: Converts
        matshow: Converts
        pcolor: Converts
        pcolormesh: Converts
        pie: Converts
        quiver: Converts
        semilogx: Converts
        semilogy: Converts
        specgram: Converts
        stackplot: Converts
        stem: Converts
        step: Converts
        violinplot: Converts
        vlines: Converts

    class image:
        anything: Keeps
        imsave: Converts

class seaborn:
    anything: Converts
    set: Keeps
    set_theme: Keeps
    set_style: Keeps
    set_context: Keeps
    set_palette: Keeps
    color_palette: Keeps
    despine: Keeps
    axes_style: Keeps
    plotting_context: Keeps
    load_dataset: Keeps

class pandas:
    anything: Keeps
    DataFrame: Converts
    Series: Converts
    Index: Converts
    array: Converts
    cut: Converts
    qcut: Converts
    factorize: Converts
    unique: Converts
    value_counts: Converts
    isna: Converts
    notna: Converts
    to_numeric: Converts
    to_datetime: Converts
    crosstab: Converts
    get_dummies: Converts

class torchvision:
    # They take accelerator tensors, and copy by themselves where the host must see them.
    anything: Keeps

class PIL:
    # A tensor has no array interface, on any device.
    anything: Keeps
