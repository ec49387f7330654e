package tree

type roleSet uint16
