package signin

// Role is what an operator may do in the console.
type Role int

// Values of [Role]; each includes those before it.
const (
	None    Role = iota // not signed in
	View                // look at everything but callers, arguments and answers
	Operate             // accept held changes, reload, try tools; see callers
)

// Includes reports whether r may do what needs another role.
func (r Role) Includes(needed Role) bool { return r >= needed }

// String returns the role as the configuration has it.
func (r Role) String() string { return [...]string{"none", "view", "operate"}[r] }
