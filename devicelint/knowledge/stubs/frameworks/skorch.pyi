"""skorch: a net moves its module, an instance in place, its criterion and each batch to its device."""

class skorch:
    any_Net: Net
    any_Net_any: Net

    class classifier:
        any_Net_any: Net

    class regressor:
        any_Net_any: Net

    class net:
        any_Net: Net
