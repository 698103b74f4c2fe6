"""What a file defines and nobody in it calls: walked as others would call it."""
