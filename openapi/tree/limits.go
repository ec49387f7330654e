package tree

// Limits bound what a document may cost, all its files together (security.md
// S3). A zero field takes its default.
type Limits struct {
	Bytes      int64 // of all files, decoded; 64 MiB
	Depth      int   // of nested arrays and objects; 200
	Nodes      int   // values of any kind; 5,000,000 (a YAML file: an eighth, its parser costs that much more)
	Aliases    int   // values that YAML aliases and merge keys may add; 500,000
	Refs       int   // members named "$ref"; 200,000
	RefChain   int   // references that lead to nothing but a reference; 64
	Files      int   // 5,000
	FileDepth  int   // files that lead to a file; 32
	Operations int   // 10,000
}
