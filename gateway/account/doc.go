// Package account keeps the accounts that callers have at services (credentials of type authorization_code): it makes the link by which a
// user connects one, serves the pages behind it, keeps the tokens sealed, refreshes them once for all replicas, and revokes them.
//
// It hides the two logins of a connection, at the caller's issuer and at the service, the storage of tokens in server.state_dir or Redis,
// and their refresh.
//
// The rules that must not be broken: nothing is sent to the service before the user in the browser has proven, at the caller's issuer, to
// be the caller for whom the link was made; tokens are kept under issuer and subject of that caller and under everything that decides where
// they are sent; and a caller without issuer and subject has no account.
package account
