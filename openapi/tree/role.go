package tree

type roleSet uint32
