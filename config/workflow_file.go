package config

import "fmt"

// maxWorkflowFile is the maximum size of an Arazzo description, in bytes.
const maxWorkflowFile = 16 << 20

// WorkflowFile is an Arazzo description, as it was when the configuration was loaded.
type WorkflowFile struct {
	Path string
	Data []byte // must not be changed
}

// WorkflowFiles returns the Arazzo descriptions of the configuration, in its order.
func (c *Config) WorkflowFiles() []WorkflowFile { return c.workflowFiles }

// readWorkflows reads the Arazzo descriptions, and has their files watched.
func (l *loader) readWorkflows(cfg *Config) {
	for i, file := range cfg.Workflows {
		key := fmt.Sprintf("workflows[%d]", i)
		if file == "" || !l.ok(key) {
			continue
		}
		path := file.String()
		l.files = append(l.files, path)
		data, _, err := readAtMost(named(path), maxWorkflowFile)
		if err != nil {
			l.errorf(key, "%q can't be read: %s", path, reason(err))
			continue
		}
		cfg.workflowFiles = append(cfg.workflowFiles, WorkflowFile{path, data})
	}
}
