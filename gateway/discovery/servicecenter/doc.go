// Package servicecenter finds services in Apache ServiceComb service-center, the registry of Huawei Cloud CSE, and takes their
// documents from it: the registry keeps the schemas of each microservice.
//
// It hides the requests to the registry, the account's token, which version of a microservice is called, and when schemas are
// read again. Each schema is a service of its own, MICROSERVICE-SCHEMA, because each has a base path and a document of its own.
//
// The rule that must not be broken: only instances with the status UP are called, and the password and the token are sent to the
// registry alone and are in no error.
package servicecenter
