// Package switchback is the kind of study that runs on a host in production: a
// setting of one host is switched between two values, window by window, in pairs
// whose order is drawn by chance, while the host serves its own traffic. The pair
// is the unit of replication; sham pairs write the control's value again and are
// the A/A arm; guardrails end the study when it does harm.
//
// Sources: Bojinov, Simchi-Levi & Zhao, Design and Analysis of Switchback
// Experiments (arXiv 2009.00148); Spang et al., Unbiased Experiments in Congested
// Networks (IMC 2021), on why an A/B test by connection misleads where arms share a
// link.
package switchback
