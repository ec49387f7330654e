package catalog

const (
	// fewOperations is the number of operations of an API below which no argument counts as shared.
	fewOperations = 8
	// sharedShare is the percentage of the operations that have a shared argument.
	sharedShare = 80
)

// sharedArguments are the names of the arguments that nearly all operations of an API have, such as the header of its version. A
// signature has them last, because they tell nothing of the operation.
type sharedArguments map[string]bool

// sharedBy returns the arguments that the candidates of an API share.
func sharedBy(candidates []*candidate) sharedArguments {
	if len(candidates) < fewOperations {
		return nil
	}
	operations := map[string]int{}
	for _, c := range candidates {
		for name := range c.op.ParameterNames() {
			operations[name]++
		}
	}
	var all sharedArguments
	for name, n := range operations {
		if n*100 >= len(candidates)*sharedShare {
			if all == nil {
				all = sharedArguments{}
			}
			all[name] = true
		}
	}
	return all
}

func (s sharedArguments) has(name string) bool { return s[name] }
