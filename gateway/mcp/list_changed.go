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

// ListsChanged makes each stream compare the lists with what its client knows, and notify the client of those that
// differ. It does not wait for that.
func (b *Broker) ListsChanged(changed List) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.streams {
		if of := s.lists & changed; of != 0 {
			s.enqueue(func(p *pending) { p.lists |= of })
		}
	}
}
