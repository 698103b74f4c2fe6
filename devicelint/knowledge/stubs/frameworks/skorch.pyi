"""skorch: a net moves its module, its criterion and each batch to the device that it is given."""

class skorch:
    any_Net: Tool
    any_Net_any: Tool

    class classifier:
        any_Net_any: Tool

    class regressor:
        any_Net_any: Tool

    class net:
        any_Net: Tool
