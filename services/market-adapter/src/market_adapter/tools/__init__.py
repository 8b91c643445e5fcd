"""The tools that this service serves: one file a group, with what they take, what they give and how they answer."""
