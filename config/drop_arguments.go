package config

// DroppedArguments returns the arguments that clients add to calls of the API, and whether tools.drop_arguments lists them
// rather than the API's own drop_arguments.
func (c *Config) DroppedArguments(a *API) (names []string, general bool) {
	if a.DropArguments != nil {
		return a.DropArguments, false
	}
	return c.Tools.DropArguments, true
}
