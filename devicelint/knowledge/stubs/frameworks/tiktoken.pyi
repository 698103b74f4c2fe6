"""tiktoken: texts become lists of numbers, and these become texts."""

class tiktoken:
    get_encoding: tiktoken.Encoding
    encoding_for_model: tiktoken.Encoding
    Encoding: Tool

    class Encoding:
        anything: Hosted
