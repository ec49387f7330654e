package mcp

// List is a set of lists that clients can be notified about.
type List uint8

// The lists.
const (
	ToolsList List = 1 << iota
	PromptsList
	ResourcesList
)

// lists are the single lists, in the order of their notifications.
var lists = [...]List{ToolsList, PromptsList, ResourcesList}

// notification returns the name of the notification for one list.
func (l List) notification() string {
	switch l {
	case ToolsList:
		return "notifications/tools/list_changed"
	case PromptsList:
		return "notifications/prompts/list_changed"
	case ResourcesList:
		return "notifications/resources/list_changed"
	}
	return ""
}
