"""What the configuration of a project calls a module: a model of which no source is seen."""

class assumed:
    Module_: Model

    class Module_:
        __call__: Output
