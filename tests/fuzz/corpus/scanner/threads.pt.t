@{"traceEvents": [
    
  {
    "ph": "M",
    "name": "process_name",
    "ts": 4416768797490.781,
    "pid": 11690,
    "tid": 0,
    "args": {
      "name": "python"
    }
  },
  {
    "ph": "M",
    "name": "process_labels",
    "ts": 4416768797490.781,
    "pid": 11690,
    "tid": 0,
    "args": {
      "labels": "CPU"
    }
  },
  {
    "ph": "M",
    "name": "process_sort_index",
    "ts": 4416768797490.781,
    "pid": 11690,
    "tid": 0,
    "args": {
      "sort_index": 11690
    }
  },
  {
    "ph": "M",
    "name": "thread_name",
    "ts": 4416768797490.781,
    "pid": 11690,
    "tid": 11694,
    "args": {
      "name": "thread 11694 (python)"
    }
  },
  {
    "ph": "M",
    "name": "thread_sort_index",
    "ts": 4416768797490.781,
    "pid": 11690,
    "tid": 11694,
    "args": {
      "sort_index": 11694
    }
  },
  {
    "ph": "M",
    "name": "thread_name",
    "ts": 4416768797490.781,
    "pid": 11690,
    "tid": 11693,
    "args": {
      "name": "thread 11693 (python)"
    }
  },
  {
    "ph": "M",
    "name": "thread_sort_index",
    "ts": 4416768797490.781,
    "pid": 11690,
    "tid": 11693,
    "args": {
      "sort_index": 11693
    }
  },
  {
    "ph": "M",
    "name": "thread_name",
    "ts": 4416768797490.781,
    "pid": 11690,
    "tid": 11690,
    "args": {
      "name": "thread 11690 (python)"
    }
  },
  {
    "ph": "M",
    "name": "thread_sort_index",
    "ts": 4416768797490.781,
    "pid": 11690,
    "tid": 11690,
    "args": {
      "sort_index": 11690
    }
  },
  {
    "ph": "M",
    "name": "thread_name",
    "ts": 4416768797490.781,
    "pid": 11690,
    "tid": 11690,
    "args": {
      "name": "thread 11690 (python)"
    }
  },
  {
    "ph": "M",
    "name": "thread_sort_index",
    "ts": 4416768797490.781,
    "pid": 11690,
    "tid": 11690,
    "args": {
      "sort_index": 11690
    }
  },
  {
    "ph": "X",
    "cat": "user_annotation",
    "name": "thread b",
    "pid": 11690,
    "tid": 11694,
    "ts": 4416768798430.784,
    "dur": 5536.759
    ,
    "args": {
      "External id": 1537,"Record function id": 0, "Ev Idx": 0
    }
  },
  {
    "ph": "X",
    "cat": "user_annotation",
    "name": "outer",
    "pid": 11690,
    "tid": 11694,
    "ts": 4416768798549.130,
    "dur": 830.427
    ,
    "args": {
      "External id": 1538,"Record function id": 0, "Ev Idx": 1
    }
  },
  {
    "ph": "X",
    "cat": "user_annotation",
    "name": "inner",
    "pid": 11690,
    "tid": 11694,
    "ts": 4416768798562.36