"""Operations: their signatures, their operands, and what excuses two that clash."""
