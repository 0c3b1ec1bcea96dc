"""From the change log to one slave.

    run       a DAG run: holds the lease, looks at the gate, and asks for steps until nothing comes
    step      one look at the log with the slave open: delivers batches, and records how far it came
    drain     how large batches are, and what is tried when one fails
    pipeline  the stages of a batch, in their order; each is one of the other modules

A batch that fails as a whole is tried with more transactions, which it may need, and then with fewer
(`isolate_failure`), until one transaction is left: the slave stands in front of it.

Other rooms alone call `drain_to_point` and `catch_up` (initial updates), `third_databases` (comparisons and repairs)
and most of `shared_tables` and `offline_slaves`.
"""
