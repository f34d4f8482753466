// qDebug(), qInfo(), qWarning(), qCritical(), qFatal() and their forms with a category and of printf,
// recorded: typed, unformatted, without a change of the source.
//
//     #include <silverpoint/qt/debug.hpp>       behind Qt's headers or before, in each file
//     silverpoint_capture_qt(app)               the same for all files of a target, in CMake
//     qDebug() << "moved to" << position;       one record: `moved to {}`, a QPoint
//
// Readers show the text that QDebug would have printed. Line ends and other control characters are escaped
// where text must stay in a line. docs/qt.md lists what is recorded as text, besides or alone. Nothing is
// printed (silverpoint::qt::echo() turns printing on). Rules of categories, QT_LOGGING_RULES,
// QT_FATAL_WARNINGS and QT_NO_DEBUG_OUTPUT apply.
//
// Thread-safe: any thread. Cost: while it is off, a check as Qt's own. Else a record in the ring; types
// beyond qt/look.hpp are also written by QDebug.
#pragma once

#include <QDebug>
#include <QLoggingCategory>

#include "handler.hpp"
#include "line.hpp"

// (Commas stand in parentheses alone, so that it may be an argument of macros. The last function is generic
// and stands here, so that the program's operators << are found as from the statement itself.)
#define SP_DETAIL_QT(type)                                                                       \
    ::silverpoint::detail::QtStart(                                                              \
        [] {                                                                                     \
            static constinit ::silverpoint::detail::QtPlace sp_place_(type, __FILE__, __LINE__); \
            return &sp_place_;                                                                   \
        }(),                                                                                     \
        Q_FUNC_INFO, ::silverpoint::detail::QtRank<type, __LINE__>(),                            \
        [](auto& sp_out_, auto& sp_value_) -> void { sp_out_ << sp_value_; })

#ifndef QT_NO_DEBUG_OUTPUT
#    undef qDebug
#    define qDebug SP_DETAIL_QT(QtDebugMsg).message
#endif
#ifndef QT_NO_INFO_OUTPUT
#    undef qInfo
#    define qInfo SP_DETAIL_QT(QtInfoMsg).message
#endif
#ifndef QT_NO_WARNING_OUTPUT
#    undef qWarning
#    define qWarning SP_DETAIL_QT(QtWarningMsg).message
#endif
#undef qCritical
#define qCritical SP_DETAIL_QT(QtCriticalMsg).message
#undef qFatal
#define qFatal SP_DETAIL_QT(QtFatalMsg).fatal

// Arguments are evaluated only if the category is enabled.
#define SP_DETAIL_QT_IN(category, type, ...)                                               \
    for (const QLoggingCategory* sp_category_ = &(category)();                             \
         sp_category_ != nullptr && sp_category_->isEnabled(type); sp_category_ = nullptr) \
    SP_DETAIL_QT(type).message(*sp_category_ __VA_OPT__(, ) __VA_ARGS__)
#ifndef QT_NO_DEBUG_OUTPUT
#    undef qCDebug
#    define qCDebug(category, ...) SP_DETAIL_QT_IN(category, QtDebugMsg __VA_OPT__(, ) __VA_ARGS__)
#endif
#ifndef QT_NO_INFO_OUTPUT
#    undef qCInfo
#    define qCInfo(category, ...) SP_DETAIL_QT_IN(category, QtInfoMsg __VA_OPT__(, ) __VA_ARGS__)
#endif
#ifndef QT_NO_WARNING_OUTPUT
#    undef qCWarning
#    define qCWarning(category, ...) SP_DETAIL_QT_IN(category, QtWarningMsg __VA_OPT__(, ) __VA_ARGS__)
#endif
#undef qCCritical
#define qCCritical(category, ...) SP_DETAIL_QT_IN(category, QtCriticalMsg __VA_OPT__(, ) __VA_ARGS__)
#undef qCFatal
#define qCFatal(category, ...) SP_DETAIL_QT_IN(category, QtFatalMsg __VA_OPT__(, ) __VA_ARGS__)
