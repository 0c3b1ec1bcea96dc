SELECT command FROM {intent} WHERE source = '' AND slave = ''
