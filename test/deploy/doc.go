// Package deploy tests what is in the folder deploy: the Helm chart is rendered with several sets of values, its
// manifests are held against the schemas of Kubernetes, and every gateway configuration in the folder is loaded by the
// gateway's own loader. The one rule: a manifest is judged by somebody else's schema, never by a copy of what it says.
package deploy
