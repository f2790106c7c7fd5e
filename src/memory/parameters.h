// Every constant of the policy, named (search-and-memory.md "The policy"); the paper publishes none, these are ours.
#pragma once

namespace cairn {

struct PolicyParameters {
  // Evidence with back-off.
  double kappa = 4;                 // weight of the parent context's mean
  double kappa_run = 4;             // the same for the context "this run" (docs/decisions/0006)
  double failure_cost = 0.1;        // c_f: subtracted from a failed row's credit
  double kappa_failure = 1;         // weight of the store's failure rate beside this run's rows (docs/decisions/0008)
  double regress_cost = 0.05;       // c_r: subtracted where R < regress_limit
  double regress_limit = -0.02;
  double weight_executed = 1, weight_numeric = 0.5, weight_lower = 0.25;
  double half_life_days = 180;
  double device_same = 1, device_architecture = 0.7, device_kind = 0.4, device_other = 0.15;
  double credit_fade = 0.8;         // of later steps' gains in R, for each step between; 1 is the paper's credit (docs/decisions/0006)
  // What stands on what (docs/decisions/0008).
  double prerequisite_z = 4;        // least z score of the difference that another local before it makes to a local's gain
  int prerequisite_rows = 4;        // fewest rows with it and without
  double prerequisite_gain = 0.1;   // least gain after it, and least difference (log)
  double prerequisite_noise = 0.1;  // standard deviation of a gain beside what the rows show
  // Direction.
  double trigger = 0.1;             // b: times the largest time share among the bottlenecks that g's triggers name
  double prefix_decay = 1.5;        // w_i ~ exp(-prefix_decay (i - 1))
  int prefix = 2;                   // k
  double local_share = 1;           // eta
  double count = 0.1;               // beta
  double transition_count = 3;      // weight of n_{s,g} beside n_g
  double temperature = 0.02;        // tau
  double temperature_llm = 0.1;     // tau where an LLM picks the local strategy
  // Local.
  double predicted = 0.3;           // prior: times the best predicted log gain among untried arguments
  double repeat_failure = 0.1;      // subtracted if the local failed with this argument class in this run
  double noise = 0.05;              // standard deviation of the draw with no evidence
  double noise_run = 2;             // weight of n_run in it
  int noise_rows = 8;               // most rows of all that count in it
  // Flat retrieval.
  int flat_tasks = 8;               // nearest tasks
  double flat_family_distance = 2;  // between tasks of two families, beside their features' distance (log2 units)
  double flat_temperature = 0.05;
  double flat_predicted = 0.3;      // times the predicted log gain, where no near task has tried the local
  // Until so many tasks are stored, locals are scored by flat's predictor.
  int cold_tasks = 10;
  // A run's distinct strategies stay at or above this share of its committed proposals, at most ten of them counted.
  double least_distinct = 0.3;
};

}  // namespace cairn
