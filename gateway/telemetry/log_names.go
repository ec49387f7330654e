package telemetry

// maxLogNames is the number of names of a list that a log line has.
const maxLogNames = 20

// LogNames returns the first names of a list, for the log.
func LogNames(names []string) []string { return names[:min(len(names), maxLogNames)] }
